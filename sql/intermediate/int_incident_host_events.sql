-- What the hosts of each incident tell: bursts of their own logs, their loss as the scheduler saw it, faults that operators filed.
-- grain: one row per incident_id, evidence_id
select
    members.incident_id,
    members.cluster,
    members.member as evidence_id,
    'host' as kind,
    bursts.kind as code,
    bursts.family as detail,
    'primary' as role,
    bursts.severity,
    bursts.component,
    bursts.action,
    bursts.node,
    bursts.is_node_known,
    coalesce(bursts.pci_bdf, bursts.device) as device,
    null::varchar as attempt_id,
    bursts.first_at as seen_at,
    bursts.n_lines,
    bursts.text,
    null::bigint as recovery_action,
    bursts.refs
from int_incident_members as members
inner join int_host_bursts as bursts
    on members.cluster = bursts.cluster and members.member_id = bursts.burst_id and members.member_kind = 'host'

union all

select
    members.incident_id,
    members.cluster,
    members.member,
    'node',
    losses.kind,
    null,
    'end',
    'app',
    null,
    null,
    losses.node,
    true,
    null,
    null,
    losses.started_at,
    1,
    concat_ws(': ', 'node lost', losses.kind, losses.reason),
    null,
    list_slice(losses.refs, 1, 16)
from int_incident_members as members
inner join int_losses as losses on members.cluster = losses.cluster and members.member = losses.member

union all

select
    members.incident_id,
    members.cluster,
    members.member,
    'record',
    records.part,
    records.level,
    'primary',
    coalesce(parts.severity, 'unknown'),
    coalesce(parts.component, 'unknown'),
    null,
    records.node,
    true,
    null,
    null,
    records.started_at,
    1,
    concat_ws(': ', records.level, records.part, records.text),
    null,
    [records.ref]
from int_incident_members as members
inner join stg_fault_records as records
    on members.cluster = records.cluster and members.member_id = records.record_key and members.member_kind = 'record'
left join stg_fault_parts as parts on records.level = parts.level and records.part = parts.part
