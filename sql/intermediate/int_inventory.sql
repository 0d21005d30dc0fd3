-- Which device stood in which slot, from when to when (null: unknown or still there). A device that is put into service again,
-- or whose address another one takes, has left its place by then, also where nobody wrote it down.
-- grain: one row per cluster, node, device_class, device_id, in_service_at
with ended as (
    select
        * exclude (removed_at),
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
)

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
from ended
where removed_at is null or in_service_at is null or removed_at > in_service_at
