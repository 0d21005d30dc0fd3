-- Which device stood in which slot, from when to when (null: unknown or still there). What people wrote down is the stronger
-- source: what was seen fills its blanks, and ends it only where another device was seen in the slot (or the device elsewhere)
-- after it was stated. Devices that nobody wrote down are those seen: a first sight is not when they came into service, so
-- in_service_at is null; entered_at is when a device is known to have entered its slot at the latest, null where none was before.
-- A device that is put into service again, or whose address another one takes, has left its place by then.
-- grain: one row per cluster, node, device_class, device_id, in_service_at, first_seen_at
with stated as (
    select
        * exclude (removed_at),
        removed_at as told_removed_at,
        least(
            removed_at,
            min(in_service_at) over (
                partition by cluster, device_class, device_id
                order by in_service_at nulls first groups between 1 following and unbounded following
            ),
            min(in_service_at) over (
                partition by cluster, node, device_class, coalesce(pci_bdf, device_id)
                order by in_service_at nulls first groups between 1 following and unbounded following
            )
        ) as removed_at
    from stg_inventory
),

written as (
    select
        stated.* exclude (pci_bdf, device_uuid, device_serial, part_number, model, firmware),
        coalesce(any_value(stated.pci_bdf), max(stays.pci_bdf)) as pci_bdf,
        coalesce(any_value(stated.device_uuid), max(stays.device_uuid)) as device_uuid,
        coalesce(any_value(stated.device_serial), max(stays.device_serial)) as device_serial,
        coalesce(any_value(stated.part_number), max(stays.part_number)) as part_number,
        coalesce(any_value(stated.model), max(stays.model)) as model,
        coalesce(any_value(stated.firmware), max(stays.firmware)) as firmware,
        min(stays.first_seen_at) as first_seen_at,
        max(stays.last_seen_at) as last_seen_at
    from stated
    left join int_device_stays as stays
        on
            stated.cluster = stays.cluster
            and stated.node = stays.node
            and stated.device_class = stays.device_class
            and (stated.device_serial = stays.device_serial or stated.device_uuid = stays.device_uuid or stated.device_id = stays.device_id)
            and stays.first_seen_at < coalesce(stated.told_removed_at, stays.first_seen_at + interval 1 second)
    group by all
),

unwritten as (
    select stays.*
    from int_device_stays as stays
    anti join written
        on
            stays.cluster = written.cluster
            and stays.node = written.node
            and stays.device_class = written.device_class
            and (
                (
                    (stays.device_serial = written.device_serial or stays.device_uuid = written.device_uuid or stays.device_id = written.device_id)
                    and stays.first_seen_at < coalesce(written.told_removed_at, stays.first_seen_at + interval 1 second)
                )
                or (
                    stays.place in (written.pci_bdf, written.slot)
                    and stays.last_seen_at >= coalesce(written.in_service_at, stays.last_seen_at)
                    and stays.first_seen_at < coalesce(written.told_removed_at, written.stated_at)
                )
            )
),

ended as (
    select written.* exclude (removed_at), least(any_value(written.removed_at), min(swaps.first_seen_at)) as removed_at
    from written
    left join unwritten as swaps
        on
            written.cluster = swaps.cluster
            and written.device_class = swaps.device_class
            and swaps.first_seen_at > coalesce(written.stated_at, written.in_service_at)
            and (
                (written.node = swaps.node and swaps.place in (written.pci_bdf, written.slot))
                or written.device_serial = swaps.device_serial
                or written.device_uuid = swaps.device_uuid
            )
    group by all
)

select
    cluster, node, rack, slot, device_class, device_id, pci_bdf, device_uuid, device_serial, part_number, vendor, model, lot,
    firmware, in_service_at, removed_at, first_seen_at, last_seen_at, in_service_at as entered_at, 'file' as inventory_source
from ended
where removed_at is null or in_service_at is null or removed_at > in_service_at
union all by name
select * exclude (place), 'seen' as inventory_source
from unwritten
qualify row_number() over (partition by cluster, node, device_class, device_id, first_seen_at order by last_seen_at desc, place) = 1
