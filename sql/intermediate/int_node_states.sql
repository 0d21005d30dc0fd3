-- How long each node was in which state: events of the accounting as they stand, and runs of snapshots that say the same. A run
-- starts where its reason was set, if the node was out of use since, else where it was first seen; it ends where another state was
-- first seen. An open end is null. Events are not joined here.
-- grain: one row per cluster, node, source_kind, started_at, nth
with intervals as (
    select
        cluster,
        node,
        'snapshot' as source_kind,
        case
            when availability not in ('up', 'powered_off', 'absent', 'unknown') then least(coalesce(reason_at, first_seen_at), first_seen_at)
            else first_seen_at
        end as started_at,
        lead(first_seen_at) over (partition by cluster, node order by first_seen_at) as ended_at,
        first_seen_at,
        last_seen_at,
        availability,
        state,
        state_flags,
        reason,
        reason_by,
        is_scheduler,
        n_gpus,
        refs
    from int_node_runs

    union all

    select
        cluster,
        node,
        source_kind,
        seen_at,
        ended_at,
        seen_at,
        coalesce(ended_at, seen_at),
        availability,
        state,
        state_flags,
        reason,
        reason_by,
        is_scheduler,
        n_gpus,
        [ref]
    from stg_node_states
    where is_interval
)

select
    *,
    availability in ('down', 'drained', 'draining', 'out', 'maintenance', 'rebooting') as is_out,
    row_number() over (
        partition by cluster, node, source_kind, started_at order by ended_at nulls last, availability, state, reason, refs
    ) as nth
from intervals
