-- What there is to judge a set of dumps by: its ranks, which of them have a file, and what lowers the confidence.
-- grain: one row per cluster, dump_set
with files as (
    select
        cluster,
        dump_set,
        count(*) as n_ranks,
        count(*) filter (where file_state = 'dumped') as n_dumped,
        count(*) filter (where file_state in ('dumped', 'no_data')) as n_readable,
        coalesce(list(rank order by rank) filter (where file_state = 'no_dump'), []) as missing,
        coalesce(list(rank order by rank) filter (where file_state in ('unreadable', 'cut')), []) as unreadable,
        coalesce(list(source_id || ':1' order by rank) filter (where source_id is not null), []) as refs
    from int_dump_ranks
    group by cluster, dump_set
),

runs as (
    select
        cluster,
        dump_set,
        max(run_number) as n_runs,
        coalesce(list(rank order by rank) filter (where run_number = 1), []) as first_run,
        coalesce(list(rank order by rank) filter (where is_outrun), []) as outrun
    from int_dump_runs
    group by cluster, dump_set
),

heads as (
    select
        cluster,
        dump_set,
        count(*) filter (where not is_idle) as n_pending,
        min(created_ns) as first_pending_ns,
        min(timeout_ms) as timeout_ms
    from int_rank_heads
    group by cluster, dump_set
),

ops as (
    select
        cluster,
        dump_set,
        bool_or(backend = 'gloo') as is_gloo,
        bool_or(is_late) as is_after_abort
    from int_rank_ops
    group by cluster, dump_set
),

dumps as (
    select
        dumps.cluster,
        dumps.dump_set,
        max(dumps.job_id) as job_id,
        count(distinct dumps.version) as n_versions,
        epoch_ns(max(sources.collected_at)) as collected_ns,
        epoch(max(sources.collected_at)) - epoch(min(sources.collected_at)) as spread_s
    from stg_dumps as dumps
    left join stg_sources as sources on dumps.source_id = sources.source_id
    group by dumps.cluster, dumps.dump_set
)

select
    files.*,
    worlds.world_size,
    dumps.job_id,
    coalesce(dumps.n_versions, 0) as n_versions,
    coalesce(heads.n_pending, 0) as n_pending,
    coalesce(runs.n_runs, 1) as n_runs,
    coalesce(runs.first_run, []) as first_run,
    coalesce(runs.outrun, []) as outrun,
    coalesce((dumps.collected_ns - heads.first_pending_ns) / 1e6 between 0 and heads.timeout_ms, false) as is_young,
    coalesce(dumps.spread_s > parameters.dump_gap_s, false) as is_far_apart,
    coalesce(ops.is_gloo, false) as is_gloo,
    coalesce(ops.is_after_abort, false) as is_after_abort
from files
cross join parameters
left join runs on files.cluster = runs.cluster and files.dump_set = runs.dump_set
left join int_dump_worlds as worlds on files.cluster = worlds.cluster and files.dump_set = worlds.dump_set
left join dumps on files.cluster = dumps.cluster and files.dump_set = dumps.dump_set
left join heads on files.cluster = heads.cluster and files.dump_set = heads.dump_set
left join ops on files.cluster = ops.cluster and files.dump_set = ops.dump_set
