-- Failures over exposure per component, kind of exposure and cell of one dimension at a time: what comparisons read. The cells of a
-- dimension add up to the whole; what is not known of a device or a failure stands under null. A failure of an unknown device
-- counts where its node's devices are all alike.
-- grain: one row per population, component, exposure_kind, dimension, label
with exposed as (
    select cluster, exposure_class, exposure_kind, dimension, label, device_us from int_cells_labels
    union all
    select cluster, exposure_class, exposure_kind, 'age_band', age_band, device_us from int_cells_ages
    union all
    select cluster, 'gpu', exposure_kind, 'temperature_c', cast(temperature_bin_c as varchar), device_us from int_cells_heat
    union all
    select cluster, exposure_class, exposure_kind, clock || '_hour', cast(hour as varchar), device_us from int_cells_calendar where month is null
    union all
    select cluster, exposure_class, exposure_kind, 'weekday', cast(weekday as varchar), device_us from int_cells_calendar
    where clock = 'civil' and month is null
    union all
    select cluster, exposure_class, exposure_kind, 'month', month, device_us from int_cells_calendar
    where clock = 'civil' and month is not null
),

hours as (
    select
        exposed.cluster, components.component, exposed.exposure_kind, exposed.dimension, exposed.label,
        sum(exposed.device_us) as device_us, 0 as n_failures
    from exposed
    inner join stg_components as components on exposed.exposure_class = components.exposure_class
    where components.component != 'maintenance'
    group by all
),

failed as (
    select
        cluster, component, exposure_kind,
        unnest([
            {'dimension': 'vendor', 'label': vendor},
            {'dimension': 'lot', 'label': lot},
            {'dimension': 'part_number', 'label': part_number},
            {'dimension': 'model', 'label': model},
            {'dimension': 'firmware', 'label': firmware},
            {'dimension': 'rack', 'label': rack},
            {'dimension': 'slot', 'label': slot},
            {'dimension': 'host', 'label': node},
            {'dimension': 'age_band', 'label': age_band},
            {'dimension': case when exposure_class = 'gpu' then 'temperature_c' end, 'label': cast(temperature_bin_c as varchar)}
        ], recursive := true)
    from int_cells_failures
    union all
    select cluster, component, exposure_kind, clock || '_hour', cast(hour as varchar) from int_cells_failure_hours
    union all
    select cluster, component, exposure_kind, 'weekday', cast(weekday as varchar) from int_cells_failure_hours where clock = 'civil'
    union all
    select cluster, component, exposure_kind, 'month', month from int_cells_failure_hours where clock = 'civil'
),

cells as (
    select cluster, component, exposure_kind, dimension, label, device_us, n_failures from hours
    union all
    select cluster, component, exposure_kind, dimension, label, 0, 1 from failed where dimension is not null
)

select
    cells.cluster as population,
    cells.component,
    cells.exposure_kind,
    cells.dimension,
    cells.label,
    cast(sum(cells.n_failures) as bigint) as failures,
    case when whole.exposure_h is not null then sum(cells.device_us) / 3600000000.0 end as exposure_h,
    whole.is_readable
from cells
inner join reliability_cells as whole
    on cells.cluster = whole.population and cells.component = whole.component and cells.exposure_kind = whole.exposure_kind
group by cells.cluster, cells.component, cells.exposure_kind, cells.dimension, cells.label, whole.exposure_h, whole.is_readable
order by population, cells.component, cells.exposure_kind, cells.dimension, cells.label
