-- Samples of GPUs, each once: exports overlap. A row whose time is not known or lies in the future is left out.
-- grain: one row per cluster, node, device, gpu_instance, seen_at, nth
with named as (
    select
        telemetry.* exclude (node, event_day, gpu_instance),
        coalesce(keys.node, 'source:' || telemetry.source_id) as node,
        keys.node is not null as is_node_known,
        coalesce(telemetry.pci_bdf, telemetry.device_uuid, telemetry.device_serial, 'index:' || telemetry.gpu_index, 'unknown') as device,
        coalesce(telemetry.gpu_instance, -1) as gpu_instance,
        sources.n_bytes
    from telemetry
    inner join stg_sources as sources on telemetry.source_id = sources.source_id
    left join stg_node_keys as keys on telemetry.node = keys.node_as_written
    where telemetry.time_quality not in ('future', 'unknown') and telemetry.seen_at is not null
),

numbered as (
    select
        *,
        row_number() over (partition by source_id, node, device, gpu_instance, seen_at order by line) as nth
    from named
)

select * exclude (n_bytes)
from numbered
qualify row_number() over (
    partition by cluster, node, device, gpu_instance, seen_at, nth order by n_bytes desc, source_id, line
) = 1
