-- Devices in service within the window, with what cells tell apart: the intervals of the exposure in service. A node that the
-- inventory has not as a device of its own is one from the first of its devices to the last. Age counts from when the device was
-- first put into service, wherever it stood then; it is null where an earlier stay of it has no such time.
-- grain: one row per service_id
with ages as (
    select
        cluster, device_class, device_id,
        case
            when
                not bool_or(in_service_at is null and first_seen_at is null)
                and min(in_service_at) <= min(coalesce(in_service_at, first_seen_at))
                then min(in_service_at)
        end as new_at
    from int_inventory
    group by cluster, device_class, device_id
),

devices as (
    select
        devices.cluster, devices.node, devices.device_class as exposure_class, devices.device_id,
        devices.vendor, devices.lot, devices.part_number, devices.model, devices.firmware, devices.rack,
        coalesce(devices.slot, devices.pci_bdf) as slot,
        devices.pci_bdf, devices.device_uuid, devices.device_serial,
        ages.new_at,
        devices.in_service_at, devices.first_seen_at, devices.inventory_source,
        coalesce(devices.in_service_at, case when devices.inventory_source = 'seen' then devices.first_seen_at end) as since_at,
        devices.removed_at
    from int_inventory as devices
    left join ages
        on devices.cluster = ages.cluster and devices.device_class = ages.device_class and devices.device_id = ages.device_id
),

bounded as (
    select
        devices.* exclude (since_at, removed_at, in_service_at, first_seen_at, inventory_source),
        devices.removed_at,
        greatest(coalesce(devices.since_at, reported.start_at), reported.start_at) as from_at,
        least(coalesce(devices.removed_at, reported.end_at), reported.end_at) as to_at
    from devices
    cross join int_window as reported

    union all by name

    select
        devices.cluster, devices.node, 'node' as exposure_class, devices.node as device_id,
        case when min(devices.rack) = max(devices.rack) then min(devices.rack) end as rack,
        min(greatest(coalesce(devices.since_at, reported.start_at), reported.start_at)) as from_at,
        max(least(coalesce(devices.removed_at, reported.end_at), reported.end_at)) as to_at
    from devices
    cross join int_window as reported
    group by devices.cluster, devices.node
    having not bool_or(devices.exposure_class = 'node')
)

select
    row_number() over (order by cluster, exposure_class, node, device_id, from_at, to_at, slot, firmware) as service_id,
    *
from bounded
where to_at > from_at
