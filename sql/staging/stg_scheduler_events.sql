-- Lines of the scheduler's daemons, each once, as in stg_gpu_faults; a line about a host list once per node. Future and unknown
-- times are left out. The node is null where the line is about a job alone.
-- grain: one row per cluster, node, seen_at, raw, nth
with numbered as (
    select
        events.*,
        keys.node as node_key,
        sources.n_bytes,
        row_number() over (partition by events.source_id, keys.node, events.seen_at, events.raw order by events.line) as nth
    from scheduler_events as events
    inner join stg_sources as sources on events.source_id = sources.source_id
    left join stg_node_keys as keys on events.node = keys.node_as_written
    where events.time_quality not in ('future', 'unknown') and events.seen_at is not null
)

select
    source_id,
    line,
    cluster,
    node_key as node,
    seen_at,
    time_quality,
    event,
    job_id,
    job_id_raw,
    step,
    exit_code,
    exit_signal,
    state_set,
    split_part(replace(state_set, '*', ''), '+', 1) as state_word,
    n_gpus,
    n_gpus_configured,
    booted_at,
    reason,
    text,
    raw,
    nth,
    source_id || ':' || line as ref
from numbered
qualify row_number() over (partition by cluster, node_key, seen_at, raw, nth order by n_bytes desc, source_id, line) = 1
