-- Failures over exposure per component and kind of exposure: what the rate model reads. Every component stands in every cluster
-- that has incidents or exposure, also with no failure and with no exposure.
-- grain: one row per population, component, exposure_kind
with clusters as (
    select cluster from int_exposure
    union
    select cluster from int_incidents
),

failed as (
    select
        incidents.cluster,
        incidents.component,
        count(*) as failures
    from int_incidents as incidents
    cross join int_window as reported
    where
        incidents.is_failure
        and incidents.started_at >= reported.start_at
        and incidents.started_at < reported.end_at
    group by all
)

select
    clusters.cluster as population,
    components.component,
    kinds.exposure_kind,
    reported.start_at as window_start_at,
    reported.end_at as window_end_at,
    exposure.n_devices,
    exposure.device_hours as exposure_h,
    coalesce(failed.failures, 0) as failures,
    components.exposure_class
from clusters
cross join stg_components as components
cross join (select unnest(['in_service', 'allocated', 'observed']) as exposure_kind) as kinds
cross join int_window as reported
left join int_exposure as exposure
    on
        clusters.cluster = exposure.cluster
        and components.exposure_class = exposure.exposure_class
        and kinds.exposure_kind = exposure.exposure_kind
left join failed on clusters.cluster = failed.cluster and components.component = failed.component
where components.component != 'maintenance'
order by population, component, exposure_kind
