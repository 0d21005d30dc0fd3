-- GPU fault lines, each once: overlapping sources (a rotated copy, a daily dmesg) hold the same line again. The n-th equal
-- line of one source is the n-th of another; the longest source is the one cited. Future and unknown times are left out.
-- grain: one row per cluster, node, seen_at, raw, nth
with numbered as (
    select
        faults.*,
        coalesce(keys.node, 'source:' || faults.source_id) as node_key,
        keys.node is not null as is_node_known,
        sources.n_bytes,
        row_number() over (
            partition by faults.source_id, keys.node, faults.seen_at, faults.raw order by faults.line
        ) as nth
    from gpu_faults as faults
    inner join stg_sources as sources on faults.source_id = sources.source_id
    left join stg_node_keys as keys on faults.node = keys.node_as_written
    where faults.time_quality not in ('future', 'unknown') and faults.seen_at is not null
)

select
    source_id,
    line,
    cluster,
    node_key as node,
    is_node_known,
    seen_at,
    time_quality,
    boot_id,
    coalesce(pci_bdf, device_uuid, 'unknown') as device,
    pci_bdf,
    device_uuid,
    coalesce(gpu_instance, -1) as gpu_instance,
    xid,
    is_xid_inferred,
    text,
    memory_site,
    recovery_action,
    caused_by_xid,
    raw,
    nth
from numbered
qualify row_number() over (partition by cluster, node_key, seen_at, raw, nth order by n_bytes desc, source_id, line) = 1
