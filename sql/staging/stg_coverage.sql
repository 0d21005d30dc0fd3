-- Node-days on which some log of the node was seen. Agents that copy what the kernel says of GPUs (pollers) show nothing of the rest
-- of the node.
-- grain: one row per cluster, node, day
select
    coverage.cluster,
    keys.node,
    coverage.day,
    min(coverage.first_at) as first_at,
    max(coverage.last_at) as last_at,
    count(distinct coverage.source_id) as n_sources,
    bool_and(pollers.format is not null) as is_gpu_only
from coverage
inner join stg_node_keys as keys on coverage.node = keys.node_as_written
left join stg_sources as sources on coverage.source_id = sources.source_id
left join stg_pollers as pollers on sources.format = pollers.format
group by all
