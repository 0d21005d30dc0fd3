-- Spells of nodes out of use as the controller's log (or Kubernetes) tells them: from the first line that starts one to the line that ends it, losses
-- and drains apart. Lines that repeat meanwhile are of the same spell. Reasons may be told in front of the drain they belong to.
-- grain: one row per cluster, node, family, started_at
with told as (
    select
        events.cluster,
        events.node,
        roles.family,
        roles.role,
        roles.kind,
        kinds.priority,
        events.event,
        events.seen_at,
        events.reason,
        events.booted_at,
        events.ref,
        (events.seen_at, not events.is_in_order and roles.role = 'ends', events.source_id, events.line, events.nth) as place
    from int_node_events as events
    inner join stg_node_event_roles as roles
        on events.event = roles.event and (roles.state_word is null or roles.state_word = events.state_word)
    left join stg_node_episode_kinds as kinds on roles.kind = kinds.kind
),

numbered as (
    select
        *,
        coalesce(sum(cast(role = 'ends' as bigint)) over (
            partition by cluster, node, family order by place rows between unbounded preceding and 1 preceding
        ), 0) as spell_nth
    from told
)

select
    cluster,
    node,
    family,
    min(seen_at) filter (where role = 'starts') as started_at,
    min(seen_at) filter (where role = 'ends') as ended_at,
    min(seen_at) filter (where event = 'node_set_down') as down_at,
    min(booted_at) as booted_at,
    arg_min(kind, (priority, place)) filter (where role = 'starts') as kind,
    min(seen_at) filter (where role = 'starts' and kind != 'not_responding') as detected_at,
    arg_min(reason, place) filter (where reason is not null and role != 'ends') as reason,
    list_sort(list_distinct(list(ref))) as refs
from numbered
group by cluster, node, family, spell_nth
having bool_or(role = 'starts')
