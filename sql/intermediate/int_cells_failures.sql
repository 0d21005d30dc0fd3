-- The failures of each kind of exposure with all that tells their cell: the device where the evidence names it, else what the
-- devices of its node have in common; for allocated exposure always the latter, as in the exposure itself.
-- grain: one row per incident_id, exposure_kind
with failed as (
    select
        failures.incident_id, failures.exposure_kind, failures.cluster, failures.component, failures.exposure_class, failures.node,
        failures.started_at,
        case when failures.exposure_class = 'node' then null else incidents.device_id end as device_id
    from int_failures as failures
    inner join int_incidents as incidents on failures.incident_id = incidents.incident_id
    where failures.is_exposed
),

found as (
    select failed.incident_id, failed.exposure_kind, service.*
    from failed
    inner join int_cells_service as service
        on
            failed.cluster = service.cluster
            and failed.node = service.node
            and failed.exposure_class = service.exposure_class
            and (failed.device_id = service.device_id or failed.exposure_class = 'node')
            and failed.started_at >= service.from_at
            and failed.started_at < service.to_at
    where failed.exposure_kind != 'allocated'
    qualify row_number() over (partition by failed.incident_id, failed.exposure_kind order by service.from_at desc, service.service_id) = 1
),

placed as (
    select
        failed.*,
        found.service_id,
        case when found.service_id is null then alike.vendor else found.vendor end as vendor,
        case when found.service_id is null then alike.lot else found.lot end as lot,
        case when found.service_id is null then alike.part_number else found.part_number end as part_number,
        case when found.service_id is null then alike.model else found.model end as model,
        case when found.service_id is null then alike.firmware else found.firmware end as firmware,
        case when found.service_id is null then alike.rack else found.rack end as rack,
        case when found.service_id is null then alike.slot else found.slot end as slot,
        case when found.service_id is null then alike.new_at else found.new_at end as new_at
    from failed
    left join found on failed.incident_id = found.incident_id and failed.exposure_kind = found.exposure_kind
    left join int_cells_nodes as alike
        on failed.cluster = alike.cluster and failed.node = alike.node and failed.exposure_class = alike.exposure_class
)

select
    placed.*,
    bands.age_band,
    hours.temperature_c,
    cast(floor(hours.temperature_c) as integer) as temperature_bin_c,
    case when hours.service_id is not null then hour(make_timestamp(
        epoch_us(greatest(date_trunc('hour', placed.started_at), reported.start_at)) + hour_clock.offset_us
    )) end as heat_hour
from placed
cross join int_window as reported
left join stg_age_bands as bands
    on
        epoch_us(placed.started_at) - epoch_us(placed.new_at) >= bands.from_h * 3600000000
        and epoch_us(placed.started_at) - epoch_us(placed.new_at) < coalesce(bands.to_h, 1e9) * 3600000000
left join int_cells_device_hours as hours
    on placed.service_id = hours.service_id and placed.exposure_class = 'gpu' and hours.hour_at = date_trunc('hour', placed.started_at)
left join int_cells_clocks as hour_clock
    on
        hour_clock.clock = 'civil'
        and greatest(date_trunc('hour', placed.started_at), reported.start_at) >= hour_clock.from_at
        and greatest(date_trunc('hour', placed.started_at), reported.start_at) < hour_clock.to_at
