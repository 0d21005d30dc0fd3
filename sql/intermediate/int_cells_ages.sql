-- Exposure by age of the devices; what was not old enough to be in service, or has no known age, stands under null.
-- grain: one row per cluster, exposure_class, exposure_kind, age_band
with aged as (
    select
        cluster, exposure_class, exposure_kind, n_devices,
        epoch_us(from_at) - epoch_us(new_at) as from_us,
        epoch_us(to_at) - epoch_us(new_at) as to_us
    from int_cells_pieces
    where new_at is not null
),

bands as (
    select
        age_band,
        cast(from_h * 3600000000 as bigint) as from_us,
        coalesce(cast(to_h * 3600000000 as bigint), 9223372036854775807) as to_us
    from stg_age_bands
),

known as (
    select
        aged.cluster, aged.exposure_class, aged.exposure_kind, bands.age_band,
        sum(aged.n_devices * (least(aged.to_us, bands.to_us) - greatest(aged.from_us, bands.from_us))) as device_us
    from aged
    inner join bands on aged.from_us < bands.to_us and aged.to_us > bands.from_us
    group by all
),

signed as (
    select cluster, exposure_class, exposure_kind, null as age_band, n_devices * (epoch_us(to_at) - epoch_us(from_at)) as device_us
    from int_cells_pieces
    union all
    select cluster, exposure_class, exposure_kind, null, -device_us from known
)

select cluster, exposure_class, exposure_kind, age_band, device_us
from known
union all
select cluster, exposure_class, exposure_kind, age_band, sum(device_us)
from signed
group by cluster, exposure_class, exposure_kind, age_band
having sum(device_us) > 0
