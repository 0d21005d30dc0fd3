-- When the driver took back what it had asked for (154, to none) on the device that an incident is about: the first time after the
-- incident and before the next one of that device. Without it an incident has the end of its jobs, or none that is known.
-- grain: one row per incident_id
with placed as (
    select
        incident_id,
        cluster,
        verdict_node,
        device,
        started_at,
        lead(started_at) over (partition by cluster, verdict_node, device order by started_at, incident_id) as next_started_at
    from int_incidents
    where verdict_node is not null and device is not null
)

select
    placed.incident_id,
    min(bursts.first_at) as recovered_at
from placed
inner join int_bursts as bursts
    on
        placed.cluster = bursts.cluster
        and placed.verdict_node = bursts.node
        and placed.device = bursts.device
        and bursts.xid = 154
        and bursts.recovery_action = 0
        and bursts.first_at > placed.started_at
        and bursts.first_at <= coalesce(placed.next_started_at, bursts.first_at)
group by placed.incident_id
