-- Fault rows of agents that repeat another row of the same node, device and code: of the kernel's log, else of an agent that is
-- cited before it. An agent that copies the kernel's time is within burst_gap_s of it; one that polls saw it up to its interval
-- and burst_gap_s later; one that writes its own time is late by its lag. A GPU that is named by its UUID alone stands where it was
-- seen, if that is one place; an agent that names no device repeats any of the node. The copy is evidence, and opens no burst.
-- grain: one row per source_id, line
with places as (
    select cluster, node, device_uuid, any_value(pci_bdf) as pci_bdf
    from stg_sightings
    where device_uuid is not null and pci_bdf is not null
    group by cluster, node, device_uuid
    having count(distinct pci_bdf) = 1
),

rows_of as (
    select
        faults.source_id,
        faults.line,
        faults.cluster,
        faults.node,
        coalesce(faults.pci_bdf, places.pci_bdf) as pci_bdf,
        faults.device_uuid,
        faults.xid,
        faults.sxid,
        faults.seen_at,
        faults.time_quality = 'observation' as is_polled,
        coalesce(pollers.preference, 0) as preference,
        coalesce(pollers.poll_interval_s, 0) as poll_interval_s,
        coalesce(pollers.lag_s, 0) as lag_s,
        pollers.format is not null as is_agent
    from stg_gpu_faults as faults
    inner join stg_sources as sources on faults.source_id = sources.source_id
    left join stg_pollers as pollers on sources.format = pollers.format
    left join places on faults.cluster = places.cluster and faults.node = places.node and faults.device_uuid = places.device_uuid
)

select
    copies.source_id,
    copies.line,
    arg_min(originals.source_id, (originals.preference, abs(epoch_us(originals.seen_at) - epoch_us(copies.seen_at)), originals.source_id, originals.line))
        as original_source_id,
    arg_min(originals.line, (originals.preference, abs(epoch_us(originals.seen_at) - epoch_us(copies.seen_at)), originals.source_id, originals.line))
        as original_line
from rows_of as copies
inner join rows_of as originals
    on
        copies.cluster = originals.cluster
        and copies.node = originals.node
        and copies.preference > originals.preference
        and copies.xid is not distinct from originals.xid
        and copies.sxid is not distinct from originals.sxid
        and (
            copies.pci_bdf = originals.pci_bdf
            or copies.device_uuid = originals.device_uuid
            or coalesce(copies.pci_bdf, copies.device_uuid) is null
        )
cross join parameters
where
    copies.is_agent
    and epoch_us(originals.seen_at) <= epoch_us(copies.seen_at) + parameters.burst_gap_s * 1000000
    and epoch_us(originals.seen_at) >= epoch_us(copies.seen_at)
    - (parameters.burst_gap_s + copies.lag_s + case when copies.is_polled then copies.poll_interval_s else 0 end) * 1000000
group by copies.source_id, copies.line
