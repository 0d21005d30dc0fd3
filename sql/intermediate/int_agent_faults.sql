-- Faults of nodes that only an agent of Kubernetes tells: where a kernel line of the same family stands on that node as long
-- before as the kind's lines follow each other (and as faults of one host are linked), the agent repeats it, and the line counts.
-- grain: one row per cluster, node, seen_at, condition, source_id, line
with told as (
    select
        statements.*,
        statements.seen_at - to_seconds(greatest(coalesce(kinds.gap_s, 0), parameters.host_link_s)) as from_at,
        statements.seen_at + to_seconds(parameters.burst_gap_s) as until_at
    from int_agent_statements as statements
    left join stg_host_fault_kinds as kinds on statements.family = kinds.family and statements.kind = kinds.kind
    cross join parameters
    where statements.stands_for = 'fault'
),

lines as (
    select faults.cluster, faults.node, faults.family, faults.seen_at
    from stg_host_faults as faults
    inner join stg_host_fault_kinds as kinds on faults.family = kinds.family and faults.kind = kinds.kind
    where kinds.role = 'primary'
)

select told.* exclude (from_at, until_at)
from told
asof left join lines
    on
        told.cluster = lines.cluster and told.node = lines.node and told.family = lines.family
        and told.until_at >= lines.seen_at
where lines.seen_at is null or lines.seen_at < told.from_at
