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
        coalesce(list(rank order by rank) filter (where file_state = 'unreadable'), []) as unreadable,
        coalesce(list(source_id || ':1' order by rank) filter (where source_id is not null), []) as refs
    from int_dump_ranks
    group by cluster, dump_set
),

heads as (
    select
        cluster,
        dump_set,
        count(*) filter (where not is_idle) as n_pending
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
        cluster,
        dump_set,
        max(job_id) as job_id,
        count(distinct version) as n_versions
    from stg_dumps
    group by cluster, dump_set
)

select
    files.*,
    worlds.world_size,
    dumps.job_id,
    coalesce(dumps.n_versions, 0) as n_versions,
    coalesce(heads.n_pending, 0) as n_pending,
    coalesce(ops.is_gloo, false) as is_gloo,
    coalesce(ops.is_after_abort, false) as is_after_abort
from files
left join int_dump_worlds as worlds on files.cluster = worlds.cluster and files.dump_set = worlds.dump_set
left join dumps on files.cluster = dumps.cluster and files.dump_set = dumps.dump_set
left join heads on files.cluster = heads.cluster and files.dump_set = heads.dump_set
left join ops on files.cluster = ops.cluster and files.dump_set = ops.dump_set
