-- Devices in slots as people wrote them down; the identity of a device is its serial, else its UUID, else its address.
-- grain: one row per cluster, node, device_class, device_id, in_service_at
with named as (
    select
        inventory.* exclude (node, event_day),
        keys.node,
        coalesce(
            inventory.device_serial, inventory.device_uuid, keys.node || ':' || coalesce(inventory.pci_bdf, inventory.slot, inventory.device_class)
        ) as device_id,
        sources.collected_at
    from inventory
    inner join stg_node_keys as keys on inventory.node = keys.node_as_written
    inner join stg_sources as sources on inventory.source_id = sources.source_id
    where coalesce(inventory.time_source, 'file') = 'file'
)

select * exclude (collected_at, time_source, time_quality, seen_at), seen_at as stated_at
from named
qualify row_number() over (
    partition by cluster, node, device_class, device_id, in_service_at order by collected_at desc, source_id, line
) = 1
