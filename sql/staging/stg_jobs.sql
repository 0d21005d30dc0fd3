-- Attempts of the scheduler, each once. Exports overlap: a closed record beats an open one, then one whose times were not clipped to
-- its export's window, then the later end, then the later export. The key is (job_id_raw, submitted_at); a record without one of them
-- falls back to job_id, and to started_at, then ended_at, and gives way to a record of the same job and submission (or start, or of
-- no other time the end) that has more of its key; one without any time gives way to any other of its job. What is known of an open
-- attempt ends with its export. An attempt that failed without a start and without a node never ran.
-- grain: one row per cluster, attempt_id
with keyed as (
    select
        jobs.*,
        coalesce(states.is_closed, jobs.exit_code > 0 or jobs.exit_signal > 0, false) and jobs.ended_at is not null as is_closed,
        coalesce(states.ends_as, case when jobs.exit_code > 0 or jobs.exit_signal > 0 then 'failure' else 'unknown' end) as ends_as,
        jobs.started_at is null and coalesce(jobs.elapsed_s, 0) <= 0 and jobs.node_list is null and coalesce(len(jobs.nodes), 0) = 0
            and coalesce(states.ends_as, 'failure') = 'failure' as never_ran,
        case when never_ran and states.state is not null then 'never_ran' else coalesce(states.cause, 'unknown_state') end as ends_cause,
        sources.collected_at,
        coalesce(jobs.job_id_raw, jobs.job_id) || '@' || coalesce(
            strftime(jobs.submitted_at, '%Y%m%dT%H%M%SZ'), 's' || strftime(jobs.started_at, '%Y%m%dT%H%M%SZ'),
            'e' || strftime(jobs.ended_at, '%Y%m%dT%H%M%SZ'), 'unknown'
        ) as attempt_id,
        cast(jobs.job_id_raw is not null as integer) + case
            when jobs.submitted_at is not null then 6
            when jobs.started_at is not null then 4
            when jobs.ended_at is not null then 2
            else 0
        end as key_rank
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
        order by is_closed desc, coalesce(list_contains(flags, 'clipped_times'), false), ended_at desc nulls last, collected_at desc, source_id, line, run
    ) = 1
),

superseded as (
    select distinct fallback.cluster, fallback.attempt_id
    from latest as fallback
    inner join latest as better
        on
            fallback.cluster = better.cluster
            and fallback.job_id = better.job_id
            and fallback.attempt_id != better.attempt_id
            and fallback.key_rank < better.key_rank
            and (
                fallback.submitted_at = better.submitted_at
                or fallback.started_at = better.started_at
                or (fallback.key_rank in (2, 3) and fallback.ended_at = better.ended_at)
                or (fallback.key_rank in (0, 1) and better.key_rank >= 2)
            )
)

select
    latest.* exclude (key_rank, collected_at, failed_node),
    keys.node as failed_node,
    coalesce(latest.started_at, latest.submitted_at, latest.ended_at) as known_from_at,
    coalesce(
        latest.ended_at,
        latest.started_at + to_seconds(latest.elapsed_s + coalesce(latest.suspended_s, 0)),
        latest.collected_at
    ) as known_until_at
from latest
left join stg_node_keys as keys on latest.failed_node = keys.node_as_written
anti join superseded on latest.cluster = superseded.cluster and latest.attempt_id = superseded.attempt_id
