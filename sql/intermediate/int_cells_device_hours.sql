-- How hot each GPU in service was in the hour before an hour of it: mean of its samples, whoever took them. What is read after a
-- fault is its consequence, so that an hour counts under the heat of the last full hour before it. A GPU is found by its serial,
-- else its UUID, else its address.
-- grain: one row per service_id, hour_at
with hourly as (
    select
        cluster, node, pci_bdf, device_uuid, device_serial,
        date_trunc('hour', seen_at) + interval 1 hour as hour_at,
        sum(temperature_c) as sum_c,
        count(*) as n_samples
    from stg_telemetry
    where is_node_known and gpu_instance = -1 and temperature_c is not null
    group by all
)

select
    service.service_id,
    hourly.hour_at,
    sum(hourly.sum_c) / sum(hourly.n_samples) as temperature_c
from hourly
inner join int_cells_service as service
    on
        hourly.cluster = service.cluster
        and hourly.node = service.node
        and service.exposure_class = 'gpu'
        and coalesce(
            hourly.device_serial = service.device_serial, hourly.device_uuid = service.device_uuid, hourly.pci_bdf = service.pci_bdf, false
        )
        and hourly.hour_at < service.to_at
        and hourly.hour_at + interval 1 hour > service.from_at
group by service.service_id, hourly.hour_at
