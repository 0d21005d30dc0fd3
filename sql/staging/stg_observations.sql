-- States that pollers saw, each once: exports overlap and repeat their rows. A gauge that keeps its last value for ever is a
-- state where it is first seen and where it changes, across files; where it says `none so far` it is none.
-- grain: one row per source_id, line, nth
with named as (
    select
        observations.* exclude (node, event_day),
        coalesce(keys.node, 'source:' || observations.source_id) as node,
        keys.node is not null as is_node_known,
        coalesce(observations.pci_bdf, observations.device_uuid, observations.device_serial, 'index:' || observations.gpu_index) as device,
        sources.n_bytes
    from observations
    inner join stg_sources as sources on observations.source_id = sources.source_id
    left join stg_node_keys as keys on observations.node = keys.node_as_written
    where observations.time_quality not in ('future', 'unknown') and observations.seen_at is not null
),

numbered as (
    select
        *,
        row_number() over (
            partition by source_id, node, kind, tool, check_name, device, entity, seen_at, value, code, message order by line, nth
        ) as repeat_nth
    from named
),

once as (
    select *
    from numbered
    qualify row_number() over (
        partition by cluster, node, kind, tool, check_name, device, entity, seen_at, value, code, message, repeat_nth
        order by n_bytes desc, source_id, line, nth
    ) = 1
),

changes as (
    select
        *,
        lag(value) over (
            partition by cluster, node, kind, tool, check_name, device, entity order by seen_at, source_id, line, nth
        ) as value_before
    from once
)

select * exclude (n_bytes, repeat_nth, value_before)
from changes
where kind not in ('xid_gauge', 'sxid_gauge') or (code is not null and value is distinct from value_before)
