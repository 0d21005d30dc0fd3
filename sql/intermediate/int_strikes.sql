-- What strikes a node or a device, whatever log tells of it: bursts of GPUs (each under the first cause of its family) and bursts
-- of the host. Lines that only describe or close another are no strike.
-- grain: one row per cluster, strike_id
select
    cluster,
    'burst:' || burst_id as strike_id,
    'burst:' || root_id as member,
    root_id = burst_id and role != 'summary' and component is not null as is_seed,
    case when sxid is null then 'xid' else 'sxid' end as kind,
    cast(coalesce(xid, sxid) as varchar) as code,
    node,
    is_node_known,
    is_time_estimated,
    device,
    component,
    first_at,
    last_at,
    severity,
    severity_rank,
    ends_attempts
from int_burst_families

union all

select
    bursts.cluster,
    'host:' || bursts.burst_id,
    'host:' || bursts.burst_id,
    bursts.severity_rank >= 2 or bursts.component = 'unknown',
    'host',
    bursts.kind,
    bursts.node,
    bursts.is_node_known,
    bursts.is_time_estimated,
    bursts.device,
    bursts.component,
    bursts.first_at,
    bursts.last_at,
    bursts.severity,
    bursts.severity_rank,
    severities.ends_attempts
from int_host_bursts as bursts
inner join stg_severities as severities on bursts.severity = severities.severity
where bursts.role = 'primary' or (bursts.role is null and bursts.component = 'unknown')
