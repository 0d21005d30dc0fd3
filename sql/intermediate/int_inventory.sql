-- Which device stood in which slot, from when to when (null: unknown or still there).
-- grain: one row per cluster, node, device_class, device_id, in_service_at
select
    cluster,
    node,
    rack,
    slot,
    device_class,
    device_id,
    pci_bdf,
    device_uuid,
    device_serial,
    part_number,
    vendor,
    model,
    lot,
    firmware,
    in_service_at,
    removed_at
from stg_inventory
where removed_at is null or in_service_at is null or removed_at > in_service_at
