-- How hot each GPU in service was in the hour before an hour of it: mean of its samples, whoever took them. What is read after a
-- fault is its consequence, so that an hour counts under the heat of the last full hour before it. A GPU is found by its serial,
-- else its UUID, else its address. Sums are of thousandths of a degree, so that their order does not matter.
-- grain: one row per service_id, hour_at
with sampled as (
    select
        cluster, node, pci_bdf, device_uuid, device_serial,
        epoch_us(date_trunc('hour', make_timestamp(epoch_us(seen_at)))) + 3600000000 as hour_us,
        cast(round(temperature_c * 1000) as bigint) as temperature_mc
    from stg_telemetry
    where is_node_known and gpu_instance = -1 and temperature_c is not null
),

matched as (
    select named.*, service.service_id, epoch_us(service.from_at) - 3600000000 as from_us, epoch_us(service.to_at) as to_us
    from (select distinct cluster, node, pci_bdf, device_uuid, device_serial from sampled) as named
    inner join int_cells_service as service
        on
            named.cluster = service.cluster
            and named.node = service.node
            and service.exposure_class = 'gpu'
            and coalesce(
                named.device_serial = service.device_serial, named.device_uuid = service.device_uuid, named.pci_bdf = service.pci_bdf, false
            )
)

select
    matched.service_id,
    make_timestamptz(sampled.hour_us) as hour_at,
    sum(sampled.temperature_mc) / count(*) / 1000.0 as temperature_c
from sampled
inner join matched
    on
        sampled.cluster = matched.cluster
        and sampled.node = matched.node
        and sampled.pci_bdf is not distinct from matched.pci_bdf
        and sampled.device_uuid is not distinct from matched.device_uuid
        and sampled.device_serial is not distinct from matched.device_serial
        and sampled.hour_us > matched.from_us
        and sampled.hour_us < matched.to_us
group by matched.service_id, sampled.hour_us
