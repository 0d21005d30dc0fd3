-- The failures of the window, and in which kinds of exposure each of them happened: allocated, where it ended an attempt whose
-- devices are known; observed, where the node of it (or of its attempts) has logs of that day, or of a GPU's failure an agent that
-- watched GPUs; in service, unless its node is known and the inventory has none of it. A failure outside an exposure does not count
-- against it.
-- grain: one row per incident_id, exposure_kind
with failed as (
    select
        incidents.incident_id,
        incidents.cluster,
        incidents.component,
        components.exposure_class,
        case when not starts_with(incidents.verdict_node, 'source:') then incidents.verdict_node end as node,
        incidents.started_at
    from int_incidents as incidents
    inner join stg_components as components on incidents.component = components.component
    cross join int_window as reported
    where
        incidents.is_failure
        and incidents.started_at >= reported.start_at
        and incidents.started_at < reported.end_at
),

places as (
    select incident_id, cluster, node, started_at, exposure_class from failed where node is not null

    union

    select failed.incident_id, failed.cluster, held.node, failed.started_at, failed.exposure_class
    from failed
    inner join int_incident_attempts as attempts on failed.incident_id = attempts.incident_id
    inner join stg_attempt_nodes as held on attempts.cluster = held.cluster and attempts.attempt_id = held.attempt_id
    where failed.node is null
),

allocated as (
    select distinct failed.incident_id
    from failed
    inner join int_incident_attempts as attempts on failed.incident_id = attempts.incident_id
    where (failed.exposure_class = 'gpu' and attempts.n_gpus > 0) or (failed.exposure_class = 'node' and len(attempts.nodes) > 0)
),

observed as (
    select distinct places.incident_id
    from places
    inner join stg_coverage as days
        on places.cluster = days.cluster and places.node = days.node and cast(places.started_at as date) = days.day
    where places.exposure_class = 'gpu' or days.is_gpu_only is not true
),

foreign_nodes as (
    select distinct failed.incident_id
    from failed
    anti join int_inventory as devices on failed.cluster = devices.cluster and failed.node = devices.node
    where failed.node is not null and exists (select 1 from int_inventory as any_device where any_device.cluster = failed.cluster)
)

select
    failed.*,
    kinds.exposure_kind,
    case kinds.exposure_kind
        when 'allocated' then allocated.incident_id is not null
        when 'observed' then observed.incident_id is not null
        else foreign_nodes.incident_id is null
    end as is_exposed
from failed
cross join (select unnest(['in_service', 'allocated', 'observed']) as exposure_kind) as kinds
left join allocated on failed.incident_id = allocated.incident_id
left join observed on failed.incident_id = observed.incident_id
left join foreign_nodes on failed.incident_id = foreign_nodes.incident_id
