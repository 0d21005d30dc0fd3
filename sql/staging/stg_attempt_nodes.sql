-- The nodes that each attempt held.
-- grain: one row per cluster, attempt_id, node
select distinct
    jobs.cluster,
    jobs.attempt_id,
    keys.node
from (select cluster, attempt_id, unnest(nodes) as node_as_written from stg_jobs) as jobs
inner join stg_node_keys as keys on jobs.node_as_written = keys.node_as_written
