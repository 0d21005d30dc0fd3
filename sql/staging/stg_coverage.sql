-- Node-days on which some log of the node was seen.
-- grain: one row per cluster, node, day
select
    coverage.cluster,
    keys.node,
    coverage.day,
    min(coverage.first_at) as first_at,
    max(coverage.last_at) as last_at,
    count(distinct coverage.source_id) as n_sources
from coverage
inner join stg_node_keys as keys on coverage.node = keys.node_as_written
group by all
