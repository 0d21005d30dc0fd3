-- Lines of jobs' outputs, each once in its set: copies and overlapping files hold the same line again. The n-th equal line of one
-- source is the n-th of another; the longest source is the one cited. Lines without a time stay, lines of the future do not.
-- grain: one row per source_id, line
with numbered as (
    select
        events.*,
        sets.log_set,
        sets.job_id as set_job_id,
        keys.node as node_key,
        sources.n_bytes,
        row_number() over (
            partition by events.source_id, keys.node, events.seen_at, events.raw, events.text order by events.line
        ) as nth
    from nccl_events as events
    inner join stg_log_sets as sets on events.source_id = sets.source_id
    inner join stg_sources as sources on events.source_id = sources.source_id
    left join stg_node_keys as keys on events.node = keys.node_as_written
    where events.time_quality is distinct from 'future'
)

select
    source_id,
    line,
    source_id || ':' || line as ref,
    cluster,
    log_set,
    set_job_id as job_id,
    node_key as node,
    seen_at,
    time_quality,
    kind,
    role,
    coalesce(rank, case when pg_name = '0' or pg_desc = 'default_pg' then group_rank end) as rank,
    group_rank,
    ranks,
    n_ranks,
    pg_name,
    seq,
    op,
    last_enqueued,
    last_completed,
    status,
    hca,
    address,
    peer,
    lower(error) as error,
    host,
    local_gpu,
    exit_code,
    exit_signal
from numbered
qualify row_number() over (
    partition by cluster, log_set, node_key, seen_at, raw, text, nth order by n_bytes desc, source_id, line
) = 1
