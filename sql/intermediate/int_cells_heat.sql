-- Exposure of GPUs by the heat of the hour before, in bins of 1 C with their mean, by vendor and civil hour (null: no zone); hours
-- without samples before them stand under null. What attempts held is not told by GPU: its heat is not known.
-- grain: one row per cluster, exposure_kind, vendor, temperature_bin_c, civil_hour
with exposed as (
    select
        service.cluster,
        spells.exposure_kind,
        service.vendor,
        greatest(hours.hour_at, reported.start_at) as counted_at,
        hours.temperature_c,
        least(epoch_us(spells.to_at), epoch_us(hours.hour_at) + 3600000000) - greatest(epoch_us(spells.from_at), epoch_us(hours.hour_at))
            as device_us
    from int_cells_device_hours as hours
    inner join int_cells_service as service on hours.service_id = service.service_id
    inner join int_cells_spells as spells
        on
            hours.service_id = spells.service_id
            and hours.hour_at < spells.to_at
            and epoch_us(hours.hour_at) + 3600000000 > epoch_us(spells.from_at)
    cross join int_window as reported
),

known as (
    select
        exposed.cluster, exposed.exposure_kind, exposed.vendor,
        cast(floor(exposed.temperature_c) as integer) as temperature_bin_c,
        hour(make_timestamp(epoch_us(exposed.counted_at) + clocks.offset_us)) as civil_hour,
        sum(exposed.device_us) as device_us,
        sum(exposed.device_us * cast(round(exposed.temperature_c * 1000) as bigint)) / sum(exposed.device_us) / 1000.0 as temperature_c
    from exposed
    left join int_cells_clocks as clocks on clocks.clock = 'civil' and exposed.counted_at >= clocks.from_at and exposed.counted_at < clocks.to_at
    group by all
),

signed as (
    select cluster, exposure_kind, vendor, n_devices * (epoch_us(to_at) - epoch_us(from_at)) as device_us
    from int_cells_pieces
    where exposure_class = 'gpu'
    union all
    select cluster, exposure_kind, vendor, -device_us from known
)

select cluster, exposure_kind, vendor, temperature_bin_c, civil_hour, temperature_c, device_us
from known
union all
select cluster, exposure_kind, vendor, null, null, null, sum(device_us)
from signed
group by cluster, exposure_kind, vendor
having sum(device_us) > 0
