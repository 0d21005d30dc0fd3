-- What happened to nodes, in the words of the scheduler's daemons: their own lines, and what Kubernetes says as one of those words.
-- Lines of a daemon stand in order; records of Kubernetes know seconds, and in no order.
-- grain: one row per cluster, node, source_id, line, nth
with told as (
    select
        cluster,
        node,
        seen_at,
        event,
        state_word,
        booted_at,
        reason,
        source_id,
        line,
        ref,
        true as is_in_order
    from stg_scheduler_events
    where node is not null and event not in ('object_event', 'object_condition', 'cluster_event')

    union all

    select
        cluster,
        node,
        seen_at,
        stands_for,
        null,
        null,
        concat_ws(': ', reason, left(text, 200)),
        source_id,
        line,
        ref,
        false
    from int_agent_statements
    where starts_with(stands_for, 'node_')
)

select
    *,
    row_number() over (partition by cluster, node, source_id, line order by seen_at, event, state_word, reason, booted_at) as nth
from told
