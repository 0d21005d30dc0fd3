-- Faults that operators filed, each once. Exports of one trace overlap: an ended record beats an open one, then the later end, then
-- the later export. What the class of a record means is in stg_fault_parts.
-- grain: one row per cluster, record_key
select
    records.cluster,
    records.record_key,
    keys.node,
    records.started_at,
    records.ended_at,
    records.level,
    records.part,
    records.text,
    records.source_id,
    records.line,
    records.source_id || ':' || records.line as ref
from fault_records as records
inner join stg_sources as sources on records.source_id = sources.source_id
inner join stg_node_keys as keys on records.node = keys.node_as_written
where records.time_quality != 'future'
qualify row_number() over (
    partition by records.cluster, records.record_key
    order by records.ended_at is not null desc, records.ended_at desc, sources.collected_at desc, records.source_id, records.line
) = 1
