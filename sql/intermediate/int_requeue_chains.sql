-- Attempts of one job in order, and what ended each: its state, and the lines of the scheduler's daemons about it near its end. A
-- requeue or a resize closes one attempt and submits the next at once; the same number long after, or under another user or name, is
-- another job (numbers are used again). A resize goes on in the next attempt: it is no restart.
-- grain: one row per cluster, attempt_id
with ordered as (
    select
        jobs.*,
        coalesce(jobs.job_id_raw, jobs.job_id) as chain_key,
        lag(jobs.ended_at) over attempts as earlier_ended_at,
        lag(jobs.user_name) over attempts as earlier_user_name,
        lag(jobs.job_name) over attempts as earlier_job_name,
        lag(jobs.state) over attempts as earlier_state
    from stg_jobs as jobs
    window attempts as (
        partition by jobs.cluster, coalesce(jobs.job_id_raw, jobs.job_id) order by jobs.known_from_at nulls last, jobs.attempt_id
    )
),

marked as (
    select
        ordered.*,
        cast(not coalesce(
            ordered.earlier_ended_at is not null
            and (
                ordered.submitted_at between ordered.earlier_ended_at - to_seconds(parameters.requeue_gap_s)
                and ordered.earlier_ended_at + to_seconds(parameters.requeue_gap_s)
                or ordered.submitted_at is null and ordered.started_at >= ordered.earlier_ended_at
            )
            and coalesce(ordered.user_name = ordered.earlier_user_name, true)
            and coalesce(ordered.job_name = ordered.earlier_job_name, true),
            false
        ) as bigint) as is_first
    from ordered
    cross join parameters
),

numbered as (
    select
        *,
        sum(is_first) over (
            partition by cluster, chain_key order by known_from_at nulls last, attempt_id
        ) as chain_nth
    from marked
),

ends as (
    select
        numbered.cluster,
        numbered.attempt_id,
        list(distinct events.event order by events.event) as end_events,
        list(distinct events.node order by events.node) filter (where events.node is not null) as end_nodes,
        list(distinct events.ref order by events.ref) as event_refs
    from numbered
    cross join parameters
    inner join stg_scheduler_events as events
        on
            numbered.cluster = events.cluster
            and (numbered.job_id_raw = events.job_id_raw or (events.job_id_raw is null and numbered.job_id = events.job_id))
            and events.event != 'job_started'
            and events.seen_at between greatest(numbered.started_at, numbered.ended_at - to_seconds(parameters.slurmd_timeout_s))
            and numbered.ended_at + to_seconds(parameters.attempt_after_end_s)
    group by numbered.cluster, numbered.attempt_id
)

select
    numbered.cluster,
    numbered.attempt_id,
    first_value(numbered.attempt_id) over chain as chain_id,
    numbered.job_id,
    row_number() over chain as nth,
    count(*) over (partition by numbered.cluster, numbered.chain_key, numbered.chain_nth) as n_attempts,
    numbered.submitted_at,
    numbered.started_at,
    numbered.ended_at,
    numbered.state,
    numbered.ends_as,
    numbered.ends_cause,
    coalesce(numbered.is_first = 0 and numbered.earlier_state = 'RESIZING', false) as is_resized,
    lead(numbered.attempt_id) over chain as next_attempt_id,
    lead(numbered.started_at) over chain as resumed_at,
    coalesce(ends.end_events, []) as end_events,
    coalesce(ends.end_nodes, []) as end_nodes,
    coalesce(ends.event_refs, []) as event_refs
from numbered
left join ends on numbered.cluster = ends.cluster and numbered.attempt_id = ends.attempt_id
window chain as (
    partition by numbered.cluster, numbered.chain_key, numbered.chain_nth
    order by numbered.known_from_at nulls last, numbered.attempt_id
    rows between unbounded preceding and unbounded following
)
