-- Failures over exposure per component and kind of exposure: what the rate model reads. A failure counts against the exposure in which
-- it happened; those outside are told apart. Every component stands in every cluster that has incidents or exposure, also with no
-- failure and with no exposure. A component that no source of the window could show has no figure: not read is not failure-free.
-- grain: one row per population, component, exposure_kind
with clusters as (
    select cluster from int_exposure
    union
    select cluster from int_incidents
),

read_sources as (
    select cluster, case when is_gpu_only then 'agent' else 'kernel' end as source_kind from stg_coverage
    union
    select cluster, 'scheduler' from stg_jobs
    union
    select cluster, 'kernel' from stg_fault_records
    union
    select cluster, 'scheduler' from stg_fault_records
),

readable as (
    select distinct read_sources.cluster, components.component
    from read_sources
    inner join stg_components as components
        on
            read_sources.source_kind = components.seen_by
            or (read_sources.source_kind = 'agent' and components.seen_by = 'kernel' and components.exposure_class = 'gpu')
),

failed as (
    select
        cluster,
        component,
        exposure_kind,
        count(*) filter (where is_exposed) as failures,
        count(*) filter (where not is_exposed) as failures_elsewhere
    from int_failures
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
    coalesce(failed.failures_elsewhere, 0) as failures_elsewhere,
    readable.component is not null as is_readable,
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
left join failed
    on
        clusters.cluster = failed.cluster
        and components.component = failed.component
        and kinds.exposure_kind = failed.exposure_kind
left join readable on clusters.cluster = readable.cluster and components.component = readable.component
where components.component != 'maintenance'
order by population, component, exposure_kind
