-- Devices as they were seen in their places, by pollers and in kernel lines: observations, not the hand-written inventory.
-- grain: one row per source_id, line
select
    inventory.source_id,
    inventory.line,
    inventory.cluster,
    keys.node,
    inventory.device_class,
    coalesce(inventory.pci_bdf, inventory.slot) as place,
    inventory.slot,
    inventory.pci_bdf,
    inventory.device_uuid,
    inventory.device_serial,
    inventory.part_number,
    inventory.vendor,
    inventory.model,
    inventory.firmware,
    inventory.seen_at
from inventory
inner join stg_node_keys as keys on inventory.node = keys.node_as_written
inner join stg_sources as sources on inventory.source_id = sources.source_id
where
    inventory.time_source is distinct from 'file'
    and inventory.time_source is not null
    and inventory.time_quality not in ('future', 'unknown')
    and inventory.seen_at is not null
    and coalesce(inventory.device_serial, inventory.device_uuid) is not null
    and coalesce(inventory.pci_bdf, inventory.slot) is not null
