-- Lines about faults of GPUs and their switches, each once: overlapping sources (a rotated copy, a daily dmesg) hold the same
-- line again. The n-th equal line of one source is the n-th of another. Lines with a time since boot are the same where it is the
-- same to the microsecond, whatever wraps them: the exact wall time counts. Else the longest source is the one cited. Future and
-- unknown times are left out. The data line of an SXid names no link: it has that of the line of its code and switch before it.
-- grain: one row per cluster, node, same_line, nth
with keyed as (
    select
        faults.* exclude (boot_id, seen_at, time_quality),
        times.seen_at,
        times.time_quality,
        times.is_time_estimated,
        coalesce(keys.node, 'source:' || faults.source_id) as node_key,
        keys.node is not null as is_node_known,
        sources.n_bytes,
        boots.boot_id,
        case
            when faults.monotonic_us is null then concat_ws('|', epoch_us(times.seen_at), faults.raw)
            else concat_ws(
                '|', 'since boot', boots.boot_id, faults.monotonic_us, coalesce(faults.xid, -1), coalesce(faults.sxid, -1), faults.pci_bdf, faults.text
            )
        end as same_line
    from gpu_faults as faults
    inner join stg_sources as sources on faults.source_id = sources.source_id
    inner join stg_fault_boots as boots
        on faults.source_id = boots.source_id and faults.line = boots.line and boots.fault_table = 'gpu'
    inner join stg_fault_times as times
        on faults.source_id = times.source_id and faults.line = times.line and times.fault_table = 'gpu'
    left join stg_node_keys as keys on faults.node = keys.node_as_written
    where times.time_quality not in ('future', 'unknown') and times.seen_at is not null
),

numbered as (
    select
        *,
        row_number() over (partition by source_id, node_key, same_line order by line) as nth,
        case
            when line_kind = 'data' then last_value(link ignore nulls) over (
                partition by source_id, node_key, boot_id, pci_bdf, sxid order by seen_at, line
            )
            else link
        end as named_link
    from keyed
)

select
    source_id,
    line,
    cluster,
    node_key as node,
    is_node_known,
    seen_at,
    time_quality,
    is_time_estimated,
    boot_id,
    coalesce(pci_bdf, device_uuid, 'unknown') as device,
    pci_bdf,
    device_uuid,
    coalesce(gpu_instance, -1) as gpu_instance,
    xid,
    is_xid_inferred,
    sxid,
    named_link as link,
    unit,
    subcode,
    registers,
    line_severity,
    text,
    memory_site,
    recovery_action,
    caused_by_xid,
    raw,
    same_line,
    nth
from numbered
qualify row_number() over (
    partition by cluster, node_key, same_line, nth order by time_quality != 'exact', n_bytes desc, source_id, line
) = 1
