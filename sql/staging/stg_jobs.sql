-- Attempts of the scheduler, each once. Exports overlap: a closed record beats an open one, then the later end, then the later
-- export. The key is (job_id_raw, submitted_at); a record without them falls back to (job_id, started_at) and gives way to a
-- record of the same attempt that has them.
-- grain: one row per cluster, attempt_id
with keyed as (
    select
        jobs.*,
        coalesce(states.is_closed, false) and jobs.ended_at is not null as is_closed,
        coalesce(states.ends_as, 'unknown') as ends_as,
        coalesce(states.cause, 'unknown_state') as ends_cause,
        sources.collected_at,
        coalesce(jobs.job_id_raw, jobs.job_id) || '@' || coalesce(
            strftime(jobs.submitted_at, '%Y%m%dT%H%M%SZ'), 's' || strftime(jobs.started_at, '%Y%m%dT%H%M%SZ'), 'unknown'
        ) as attempt_id,
        jobs.submitted_at is not null as has_submit
    from jobs
    inner join stg_sources as sources on jobs.source_id = sources.source_id
    left join stg_scheduler_states as states on jobs.state = states.state
    where jobs.time_quality != 'future'
),

latest as (
    select *
    from keyed
    qualify row_number() over (
        partition by cluster, attempt_id
        order by is_closed desc, ended_at desc nulls last, collected_at desc, source_id, line
    ) = 1
),

better as (
    select distinct cluster, job_id, started_at
    from latest
    where has_submit and started_at is not null
)

select
    latest.* exclude (has_submit, collected_at, failed_node),
    keys.node as failed_node,
    coalesce(latest.started_at, latest.submitted_at, latest.ended_at) as known_from_at
from latest
left join stg_node_keys as keys on latest.failed_node = keys.node_as_written
left join better
    on
        latest.cluster = better.cluster
        and latest.job_id = better.job_id
        and latest.started_at = better.started_at
        and not latest.has_submit
where better.job_id is null
