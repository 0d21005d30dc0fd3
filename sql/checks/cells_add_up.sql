-- The cells of each dimension add up to the whole: exposure to the second, failures to the failure. A dimension that stands for
-- a component stands with all of its hours and failures.
with sums as (
    select population, component, exposure_kind, dimension, sum(failures) as failures, sum(exposure_h) as exposure_h
    from exposure_cells
    group by all
    union all
    select population, component, exposure_kind, 'hours of ' || clock, sum(failures), sum(exposure_h)
    from cells_hours
    group by all
    union all
    select population, component, exposure_kind, 'heat', sum(failures), sum(exposure_h)
    from cells_heat
    group by all
)

select whole.population, whole.component, whole.exposure_kind, sums.dimension, sums.failures, sums.exposure_h
from reliability_cells as whole
inner join sums
    on whole.population = sums.population and whole.component = sums.component and whole.exposure_kind = sums.exposure_kind
where
    sums.failures != whole.failures
    or abs(coalesce(sums.exposure_h, 0) - coalesce(whole.exposure_h, 0)) * 3600 > 1
