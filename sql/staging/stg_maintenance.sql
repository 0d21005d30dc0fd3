-- Planned windows, each once.
-- grain: one row per cluster, node, started_at, ended_at
select
    maintenance.cluster,
    keys.node,
    maintenance.started_at,
    maintenance.ended_at,
    min_by(maintenance.reason, (maintenance.source_id, maintenance.line)) as reason,
    min(maintenance.source_id || ':' || maintenance.line) as ref
from maintenance
inner join stg_node_keys as keys on maintenance.node = keys.node_as_written
group by all
