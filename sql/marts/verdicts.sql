-- The verdict on each incident of the window with all its evidence.
-- grain: one row per incident_id
with refs as (
    select incident_id, list(ref order by seen_at, ref) as evidence
    from int_evidence_refs
    group by incident_id
)

select
    incidents.incident_id,
    incidents.cluster,
    incidents.started_at,
    incidents.component,
    incidents.cause,
    incidents.device_node as node,
    coalesce(incidents.device_serial, incidents.device_uuid, incidents.device_bdf) as device,
    incidents.confidence,
    incidents.severity,
    incidents.is_failure,
    incidents.is_planned,
    incidents.verdict_status,
    incidents.rule_id,
    incidents.knowledge_version,
    incidents.action,
    incidents.alternatives,
    refs.evidence
from incidents
left join refs on incidents.incident_id = refs.incident_id
order by incidents.started_at, incidents.incident_id
