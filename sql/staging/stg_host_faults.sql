-- Lines about faults of hosts, each once, as in stg_gpu_faults. The device of a line that knows only an interface is the one that
-- other lines of the node name with it; lines of one firmware report without a device are about the report.
-- grain: one row per cluster, node, same_line, nth
with keyed as (
    select
        faults.* exclude (boot_id, node, seen_at, time_quality),
        times.seen_at,
        times.time_quality,
        times.is_time_estimated,
        coalesce(keys.node, 'source:' || faults.source_id) as node,
        keys.node is not null as is_node_known,
        sources.n_bytes,
        boots.boot_id,
        case
            when faults.monotonic_us is null then concat_ws('|', epoch_us(times.seen_at), faults.raw)
            else concat_ws('|', 'since boot', boots.boot_id, faults.monotonic_us, faults.kind, faults.text)
        end as same_line
    from host_faults as faults
    inner join stg_sources as sources on faults.source_id = sources.source_id
    inner join stg_fault_boots as boots
        on faults.source_id = boots.source_id and faults.line = boots.line and boots.fault_table = 'host'
    inner join stg_fault_times as times
        on faults.source_id = times.source_id and faults.line = times.line and times.fault_table = 'host'
    left join stg_node_keys as keys on faults.node = keys.node_as_written
    where times.time_quality not in ('future', 'unknown') and times.seen_at is not null
),

numbered as (
    select
        *,
        row_number() over (partition by source_id, node, same_line order by line) as nth,
        max(device) over (partition by cluster, node, family, interface) as device_of_interface
    from keyed
)

select
    source_id,
    line,
    cluster,
    node,
    is_node_known,
    seen_at,
    time_quality,
    is_time_estimated,
    boot_id,
    family,
    kind,
    coalesce(
        case when family not in ('memory', 'mce', 'ghes', 'stall', 'crash', 'boot') then coalesce(
            device, case when interface is not null then device_of_interface end, interface, peer
        ) end,
        'report ' || report,
        'host'
    ) as device,
    device as device_as_written,
    pci_bdf,
    port_bdf,
    interface,
    port,
    peer,
    pid,
    process,
    severity_word,
    code,
    n_errors,
    text,
    raw,
    same_line,
    nth
from numbered
qualify row_number() over (
    partition by cluster, node, same_line, nth order by time_quality != 'exact', n_bytes desc, source_id, line
) = 1
