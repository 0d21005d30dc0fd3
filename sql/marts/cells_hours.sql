-- Failures over exposure per component by hour of the day and weekday of a clock: what the diurnal model reads. Civil hours follow
-- people and load, solar hours the heat of the day.
-- grain: one row per population, component, exposure_kind, clock, hour, weekday
with cells as (
    select
        calendar.cluster, components.component, calendar.exposure_kind, calendar.clock, calendar.hour, calendar.weekday,
        calendar.device_us, 0 as n_failures
    from int_cells_calendar as calendar
    inner join stg_components as components on calendar.exposure_class = components.exposure_class
    where calendar.month is null and components.component != 'maintenance'

    union all

    select cluster, component, exposure_kind, clock, hour, weekday, 0, 1
    from int_cells_failure_hours
)

select
    cells.cluster as population,
    cells.component,
    cells.exposure_kind,
    cells.clock,
    cells.hour,
    cells.weekday,
    cells.weekday >= 6 as is_weekend,
    cast(sum(cells.n_failures) as bigint) as failures,
    case when whole.exposure_h is not null then sum(cells.device_us) / 3600000000.0 end as exposure_h,
    whole.is_readable
from cells
inner join reliability_cells as whole
    on cells.cluster = whole.population and cells.component = whole.component and cells.exposure_kind = whole.exposure_kind
group by
    cells.cluster, cells.component, cells.exposure_kind, cells.clock, cells.hour, cells.weekday, whole.exposure_h, whole.is_readable
order by population, cells.component, cells.exposure_kind, cells.clock, cells.weekday, cells.hour
