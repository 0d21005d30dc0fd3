-- Failures over exposure of GPUs per component by the heat of the hour before, in bins of 1 C with their mean, by vendor and civil
-- hour: what the thermal model reads. Hours and failures whose heat is not known stand under null.
-- grain: one row per population, component, exposure_kind, vendor, temperature_bin_c, civil_hour
with cells as (
    select
        heat.cluster, components.component, heat.exposure_kind, heat.vendor, heat.temperature_bin_c, heat.civil_hour,
        heat.temperature_c, heat.device_us, 0 as n_failures
    from int_cells_heat as heat
    inner join stg_components as components on components.exposure_class = 'gpu'

    union all

    select cluster, component, exposure_kind, vendor, temperature_bin_c, heat_hour, null, 0, 1
    from int_cells_failures
    where exposure_class = 'gpu'
)

select
    cells.cluster as population,
    cells.component,
    cells.exposure_kind,
    cells.vendor,
    cells.temperature_bin_c,
    cells.civil_hour,
    max(cells.temperature_c) as temperature_c,
    cast(sum(cells.n_failures) as bigint) as failures,
    case when whole.exposure_h is not null then sum(cells.device_us) / 3600000000.0 end as exposure_h,
    whole.is_readable
from cells
inner join reliability_cells as whole
    on cells.cluster = whole.population and cells.component = whole.component and cells.exposure_kind = whole.exposure_kind
group by
    cells.cluster, cells.component, cells.exposure_kind, cells.vendor, cells.temperature_bin_c, cells.civil_hour, whole.exposure_h,
    whole.is_readable
order by population, cells.component, cells.exposure_kind, cells.vendor, cells.temperature_bin_c, cells.civil_hour
