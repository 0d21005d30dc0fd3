-- Runs of snapshots that say the same about a node's use, snapshots of all commands in one row of time. What one command leaves out
-- another of the same moment may tell.
-- grain: one row per cluster, node, first_seen_at
with snapshots as (
    select
        cluster,
        node,
        seen_at,
        coalesce(min_by(availability, (availability in ('unknown', 'out'), ref)), 'unknown') as availability,
        min_by(state, (state is null, ref)) as state,
        min_by(state_flags, (state is null, ref)) as state_flags,
        min_by(reason, (reason is null, is_reason_cut, ref)) as reason,
        min_by(reason_by, (reason_by is null, ref)) as reason_by,
        min_by(is_scheduler, (reason_by is null, ref)) as is_scheduler,
        min(reason_at) as reason_at,
        max(n_gpus) as n_gpus,
        list_sort(list(ref)) as refs
    from stg_node_states
    where not is_interval
    group by cluster, node, seen_at
),

marked as (
    select
        *,
        case
            when lag(availability) over run = availability and lag(reason) over run is not distinct from reason then 0
            else 1
        end as is_new
    from snapshots
    window run as (partition by cluster, node order by seen_at)
),

numbered as (
    select
        *,
        sum(is_new) over (partition by cluster, node order by seen_at) as run_nth
    from marked
)

select
    cluster,
    node,
    availability,
    reason,
    min(seen_at) as first_seen_at,
    max(seen_at) as last_seen_at,
    arg_min(state, seen_at) as state,
    arg_min(state_flags, seen_at) as state_flags,
    arg_min(reason_by, seen_at) as reason_by,
    arg_min(is_scheduler, seen_at) as is_scheduler,
    min(reason_at) as reason_at,
    max(n_gpus) as n_gpus,
    list_sort(flatten(list(refs))) as refs
from numbered
group by cluster, node, run_nth, availability, reason
