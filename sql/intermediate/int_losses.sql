-- Nodes that the scheduler lost: episodes that began without a person and that are a loss.
-- grain: one row per cluster, node, started_at
select
    episodes.cluster,
    'node:' || episodes.node || '@' || strftime(episodes.started_at, '%Y%m%dT%H%M%SZ') as member,
    episodes.node,
    episodes.kind,
    episodes.started_at,
    episodes.ended_at,
    coalesce(episodes.down_at, episodes.detected_at, episodes.started_at) as detected_at,
    least(episodes.possible_from_at, episodes.started_at) as possible_from_at,
    episodes.reason,
    episodes.refs
from int_node_episodes as episodes
inner join stg_node_episode_kinds as kinds on episodes.kind = kinds.kind
where kinds.is_loss and not coalesce(episodes.is_planned_by_person, false)
