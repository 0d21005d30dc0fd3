-- The lives of devices last as long as the exposure in all, to the second, and no failure ends two of them.
with lived as (
    select
        population, exposure_class, exposure_kind,
        sum(epoch_us(exit_at) - epoch_us(entry_at)) / 3600000000.0 as exposure_h,
        sum(n_failures) as n_failures
    from lifetimes
    group by all
),

failed as (
    select cluster, exposure_class, exposure_kind, count(*) as n_failures
    from int_cells_failures
    group by all
)

select lived.*, whole.device_hours, failed.n_failures as n_failures_in_all
from lived
full join int_exposure as whole
    on lived.population = whole.cluster and lived.exposure_class = whole.exposure_class and lived.exposure_kind = whole.exposure_kind
left join failed
    on lived.population = failed.cluster and lived.exposure_class = failed.exposure_class and lived.exposure_kind = failed.exposure_kind
where
    whole.exposure_kind is distinct from 'allocated'
    and (
        abs(coalesce(lived.exposure_h, 0) - coalesce(whole.device_hours, 0)) * 3600 > 1
        or coalesce(lived.n_failures, 0) > coalesce(failed.n_failures, 0)
    )
