-- The incidents of the window, as in incidents.csv. Lost GPU-hours, cost and checkpoint age are null until recovery is measured.
-- grain: one row per incident_id
with attempts as (
    select
        incident_id,
        list_sort(list_distinct(list(job_id))) as job_ids,
        list_sort(list_distinct(flatten(list(nodes)))) as nodes,
        sum(n_gpus) as n_gpus,
        min(resumed_at) as resumed_at
    from int_incident_attempts
    group by incident_id
),

evidence as (
    select
        incident_id,
        list_sort(list_distinct(list(node) filter (where node is not null and is_node_known and kind != 'maintenance'))) as nodes,
        list_slice(list(concat_ws(' ', kind, code, case when is_node_known then node end, device) order by seen_at, evidence_id), 1, 12)
            as symptom_chain,
        list_sort(list_distinct(list(case kind when 'xid' then 'kernel' when 'hang' then 'recorder' when 'attempt' then 'scheduler' else kind end)))
            as sources_present
    from int_evidence
    group by incident_id
),

refs as (
    select incident_id, list_slice(list(ref order by seen_at, ref), 1, 24) as evidence_refs
    from int_evidence_refs
    group by incident_id
)

select
    incidents.incident_id,
    incidents.cluster,
    incidents.started_at,
    incidents.detected_at,
    coalesce(attempts.resumed_at, recoveries.recovered_at) as resumed_at,
    coalesce(attempts.job_ids, []) as job_ids,
    list_sort(list_distinct(list_concat(coalesce(attempts.nodes, []), coalesce(evidence.nodes, [])))) as nodes,
    len(list_distinct(list_concat(coalesce(attempts.nodes, []), coalesce(evidence.nodes, [])))) as n_nodes,
    cast(attempts.n_gpus as bigint) as n_gpus,
    incidents.is_planned,
    incidents.component,
    incidents.cause,
    incidents.device_serial,
    incidents.device_uuid,
    incidents.device_bdf,
    case when not starts_with(incidents.verdict_node, 'source:') then incidents.verdict_node end as device_node,
    incidents.severity,
    incidents.is_failure,
    incidents.verdict_status,
    incidents.confidence,
    incidents.rule_id,
    parameters.knowledge_version,
    incidents.action,
    incidents.alternatives,
    evidence.symptom_chain,
    refs.evidence_refs,
    null::double as gpu_hours_lost,
    null::double as cost,
    null::double as checkpoint_age_s,
    evidence.sources_present
from int_incidents as incidents
cross join parameters
cross join int_window as reported
left join attempts on incidents.incident_id = attempts.incident_id
left join int_recoveries as recoveries on incidents.incident_id = recoveries.incident_id
left join evidence on incidents.incident_id = evidence.incident_id
left join refs on incidents.incident_id = refs.incident_id
where
    (incidents.started_at >= reported.start_at and incidents.started_at < reported.end_at)
    or incidents.started_at is null
order by incidents.started_at, incidents.incident_id
