-- Lines of the scheduler's daemons, each once, as in stg_gpu_faults; a line about a host list once per node. Events of Kubernetes
-- are exported again while they go on: the export with the highest count holds, and `times` keeps every moment that any of them
-- tells. A condition of an object is told once per change. Future and unknown times are left out. The node is null where the line
-- is about a job alone.
-- grain: one row per cluster, node, same_line, nth
with keyed as (
    select
        events.*,
        keys.node as node_key,
        sources.n_bytes,
        case
            when events.record_uid is not null then 'record ' || events.record_uid
            when events.event = 'object_condition' then concat_ws(
                '|', 'condition', epoch_us(events.seen_at), coalesce(events.object_kind, ''), coalesce(events.namespace, ''),
                coalesce(events.object_name, ''), coalesce(events.object_uid, ''), coalesce(events.condition, ''),
                coalesce(events.condition_status, ''), coalesce(events.reason, '')
            )
            else concat_ws('|', epoch_us(events.seen_at), events.raw)
        end as same_line,
        events.record_uid is not null or events.event = 'object_condition' as is_object
    from scheduler_events as events
    inner join stg_sources as sources on events.source_id = sources.source_id
    left join stg_node_keys as keys on events.node = keys.node_as_written
    where events.time_quality not in ('future', 'unknown') and events.seen_at is not null
),

numbered as (
    select
        *,
        case
            when is_object then 1
            else row_number() over (partition by source_id, node_key, same_line order by line)
        end as nth
    from keyed
),

told as (
    select
        cluster,
        node_key,
        same_line,
        min(first_at) as first_at,
        max(last_at) as last_at,
        list_sort(list_distinct(flatten([list(seen_at), list(first_at), list(last_at)]))) as times
    from numbered
    where is_object
    group by cluster, node_key, same_line
)

select
    numbered.source_id,
    numbered.line,
    numbered.cluster,
    numbered.node_key as node,
    numbered.seen_at,
    numbered.time_quality,
    numbered.event,
    numbered.job_id,
    numbered.job_id_raw,
    numbered.step,
    numbered.exit_code,
    numbered.exit_signal,
    numbered.state_set,
    split_part(replace(numbered.state_set, '*', ''), '+', 1) as state_word,
    numbered.n_gpus,
    numbered.n_gpus_configured,
    numbered.booted_at,
    numbered.reason,
    numbered.text,
    numbered.record_uid,
    numbered.object_kind,
    numbered.namespace,
    numbered.object_name,
    numbered.object_uid,
    numbered.condition,
    numbered.condition_status,
    numbered.event_type,
    numbered.reporter,
    numbered.n_events,
    told.first_at,
    told.last_at,
    case when numbered.event = 'object_condition' then [numbered.seen_at] else coalesce(told.times, [numbered.seen_at]) end as times,
    numbered.raw,
    numbered.same_line,
    numbered.nth,
    numbered.source_id || ':' || numbered.line as ref
from numbered
left join told
    on
        numbered.is_object
        and numbered.cluster = told.cluster
        and numbered.node_key is not distinct from told.node_key
        and numbered.same_line = told.same_line
qualify row_number() over (
    partition by numbered.cluster, numbered.node_key, numbered.same_line, numbered.nth
    order by
        numbered.n_events desc nulls last, numbered.last_at desc nulls last, numbered.n_bytes desc, numbered.source_id, numbered.line,
        numbered.node, numbered.condition
) = 1
