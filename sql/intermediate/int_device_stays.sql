-- Which device was seen in which place, from its first sight to its last. A stay ends where another device is first seen in the
-- place, or the device in another place; until then its end is not known. One that follows another device there entered it after
-- that, one that is the first seen there may have been there before (entered_at null). Samples count by day.
-- grain: one row per cluster, node, device_class, place, first_seen_at, device_id
with sampled as (
    select
        cluster, node, 'gpu' as device_class, pci_bdf as place, pci_bdf, device_uuid, device_serial,
        unnest([min(seen_at), max(seen_at)]) as seen_at
    from stg_telemetry
    where is_node_known and pci_bdf is not null and coalesce(device_serial, device_uuid) is not null
    group by cluster, node, pci_bdf, device_uuid, device_serial, cast(timezone('UTC', seen_at) as date)
),

sighted as (
    select cluster, node, device_class, place, slot, pci_bdf, device_uuid, device_serial, part_number, vendor, model, firmware, seen_at
    from stg_sightings
    union all by name
    select * from sampled
),

serials as (
    select cluster, device_uuid, min(device_serial) as device_serial
    from sighted
    where device_uuid is not null and device_serial is not null
    group by cluster, device_uuid
    having count(distinct device_serial) = 1
),

identified as (
    select
        sighted.* exclude (device_serial),
        coalesce(sighted.device_serial, serials.device_serial) as device_serial,
        coalesce(sighted.device_serial, serials.device_serial, sighted.device_uuid) as device_id
    from sighted
    left join serials on sighted.cluster = serials.cluster and sighted.device_uuid = serials.device_uuid
),

marked as (
    select *, coalesce(device_id != lag(device_id) over here, true) as begins
    from identified
    window here as (partition by cluster, node, device_class, place order by seen_at, device_id)
),

islands as (
    select *, sum(cast(begins as integer)) over (partition by cluster, node, device_class, place order by seen_at, device_id) as island
    from marked
),

stays as (
    select
        cluster, node, device_class, place, device_id, island,
        min(seen_at) as first_seen_at,
        max(seen_at) as last_seen_at,
        max(slot) as slot,
        max(pci_bdf) as pci_bdf,
        arg_max(device_uuid, (seen_at, device_uuid)) filter (where device_uuid is not null) as device_uuid,
        max(device_serial) as device_serial,
        arg_max(part_number, (seen_at, part_number)) filter (where part_number is not null) as part_number,
        max(vendor) as vendor,
        arg_max(model, (seen_at, model)) filter (where model is not null) as model,
        arg_max(firmware, (seen_at, firmware)) filter (where firmware is not null) as firmware
    from islands
    group by cluster, node, device_class, place, device_id, island
)

select
    * exclude (island),
    case when island > 1 then first_seen_at end as entered_at,
    least(
        lead(first_seen_at) over (partition by cluster, node, device_class, place order by island),
        case
            when
                lead(struct_pack(n := node, p := place)) over moves is distinct from struct_pack(n := node, p := place)
                then lead(first_seen_at) over moves
        end
    ) as removed_at
from stays
window moves as (partition by cluster, device_class, device_id order by first_seen_at, node, place, island)
qualify row_number() over (partition by cluster, node, device_class, place, first_seen_at, device_id order by island) = 1
