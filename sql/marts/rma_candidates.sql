-- GPUs that failed in the window, as in rma_candidates.csv: identity, incidents and evidence. Counters, diagnostics and criteria
-- are added by the report, empty, until telemetry is read.
-- grain: one row per cluster, node, device_id
with attributed as (
    select
        incidents.*,
        coalesce(incidents.device_id, incidents.verdict_node || ':' || incidents.device) as candidate_id
    from int_incidents as incidents
    cross join int_window as reported
    where
        incidents.is_failure
        and incidents.component in ('gpu', 'hbm', 'gpu_sram', 'gsp', 'nvlink')
        and incidents.device is not null
        and incidents.device not in ('unknown', 'host')
        and incidents.started_at >= reported.start_at
        and incidents.started_at < reported.end_at
),

codes as (
    select candidate_id, cluster, cast(map_from_entries(list((code, n) order by cast(code as bigint))) as json) as xid_counts
    from (
        select attributed.candidate_id, attributed.cluster, evidence.code, count(*) as n
        from attributed
        inner join int_evidence as evidence
            on
                attributed.incident_id = evidence.incident_id
                and evidence.kind = 'xid'
                and evidence.code is not null
                and evidence.node = attributed.verdict_node
                and evidence.device = attributed.device
        group by all
    )
    group by all
),

jobs as (
    select attributed.candidate_id, attributed.cluster, count(distinct attempts.attempt_id) as jobs_interrupted
    from attributed
    inner join int_incident_attempts as attempts on attributed.incident_id = attempts.incident_id
    group by all
),

refs as (
    select
        attributed.candidate_id,
        attributed.cluster,
        list_slice(list(cited.ref order by cited.seen_at, cited.ref), 1, 24) as evidence_refs
    from attributed
    inner join int_evidence_refs as cited on attributed.incident_id = cited.incident_id and cited.is_kernel
    group by all
),

grouped as (
    select
        candidate_id,
        cluster,
        arg_max(verdict_node, (started_at, incident_id)) as node,
        arg_max(device, (started_at, incident_id)) as device,
        min(started_at) as first_event_at,
        max(started_at) as last_event_at,
        list(incident_id order by started_at, incident_id) as incident_ids,
        arg_max(component, (confidence = 'high', confidence = 'medium', started_at, incident_id)) as root_cause,
        arg_max(confidence, (confidence = 'high', confidence = 'medium', started_at, incident_id)) as confidence,
        list_sort(list_distinct(flatten(list(alternatives)))) as alternatives
    from attributed
    group by candidate_id, cluster
)

select
    grouped.cluster,
    devices.rack,
    case when not starts_with(grouped.node, 'source:') then grouped.node end as node,
    devices.slot,
    case when regexp_full_match(grouped.device, '[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}') then grouped.device end as pci_bdf,
    'gpu' as device_class,
    devices.model as device_model,
    devices.device_serial,
    devices.part_number as device_part_number,
    devices.device_uuid,
    devices.firmware as firmware_versions,
    devices.in_service_at,
    grouped.candidate_id as device_id,
    grouped.first_event_at,
    grouped.last_event_at,
    len(grouped.incident_ids) as incidents_attributed,
    grouped.incident_ids,
    coalesce(jobs.jobs_interrupted, 0) as jobs_interrupted,
    cast(codes.xid_counts as varchar) as xid_counts,
    grouped.root_cause,
    grouped.confidence,
    grouped.alternatives,
    refs.evidence_refs
from grouped
left join int_inventory as devices on grouped.cluster = devices.cluster and grouped.candidate_id = devices.device_id and grouped.node = devices.node
left join codes on grouped.cluster = codes.cluster and grouped.candidate_id = codes.candidate_id
left join jobs on grouped.cluster = jobs.cluster and grouped.candidate_id = jobs.candidate_id
left join refs on grouped.cluster = refs.cluster and grouped.candidate_id = refs.candidate_id
qualify row_number() over (partition by grouped.cluster, grouped.candidate_id order by devices.in_service_at desc nulls last, devices.firmware) = 1
order by grouped.cluster, grouped.candidate_id
