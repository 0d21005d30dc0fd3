-- The node that the controller's log names as the failed one of an attempt: its lines about the job's loss of a node, within the
-- scheduler's timeout before the attempt's end or what may be written after it. A line is of the attempt of the job whose end is nearest;
-- of several nodes the one named first.
-- grain: one row per cluster, attempt_id
with told as (
    select
        attempts.cluster,
        attempts.attempt_id,
        events.node,
        events.seen_at,
        events.ref
    from stg_jobs as attempts
    cross join parameters
    inner join stg_scheduler_events as events
        on
            attempts.cluster = events.cluster
            and (attempts.job_id_raw = events.job_id_raw or (events.job_id_raw is null and attempts.job_id = events.job_id))
            and events.seen_at between greatest(attempts.started_at, attempts.ended_at - to_seconds(parameters.slurmd_timeout_s))
            and attempts.ended_at + to_seconds(parameters.attempt_after_end_s)
    where
        attempts.is_closed
        and attempts.ends_as in ('failure', 'stopped')
        and events.event in ('job_killed_by_node', 'job_requeued_by_node')
        and events.node is not null
    qualify row_number() over (
        partition by events.cluster, events.node, events.ref, events.same_line, events.nth
        order by abs(epoch_us(events.seen_at) - epoch_us(attempts.ended_at)), attempts.attempt_id
    ) = 1
),

named as (
    select
        *,
        first_value(node) over (partition by cluster, attempt_id order by seen_at, node, ref) as first_node
    from told
)

select
    cluster,
    attempt_id,
    node,
    min(seen_at) as told_at,
    list_slice(list_sort(list_distinct(list(ref))), 1, 16) as refs
from named
where node = first_node
group by cluster, attempt_id, node
