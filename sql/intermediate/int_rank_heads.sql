-- What each dumped rank waits in: its oldest pending operation over all groups of more than one member. A rank is idle when
-- nothing of it is pending, neither among its entries nor, where it has none, by its watermarks. What a dump that was cut off
-- waits in is lost.
-- grain: one row per cluster, dump_set, rank
with shared as (
    select
        cluster,
        dump_set,
        pg_key
    from int_group_members
    group by cluster, dump_set, pg_key
    having count(*) > 1
),

heads as (
    select ops.*
    from int_rank_ops as ops
    inner join shared on ops.cluster = shared.cluster and ops.dump_set = shared.dump_set and ops.pg_key = shared.pg_key
    where ops.is_pending
    qualify row_number() over (partition by ops.source_id order by ops.line) = 1
),

pending as (
    select distinct source_id
    from int_rank_ops
    where is_pending
    union
    select pgs.source_id
    from stg_process_groups as pgs
    inner join stg_dumps as dumps on pgs.source_id = dumps.source_id
    where dumps.n_entries = 0 and pgs.last_enqueued > pgs.last_completed
)

select
    dumps.cluster,
    dumps.dump_set,
    dumps.rank,
    dumps.source_id,
    heads.line,
    heads.pg_key,
    heads.pg_name,
    heads.operation,
    heads.backend,
    heads.is_p2p,
    case when heads.is_p2p then heads.p2p_seq else heads.seq end as seq,
    heads.created_ns,
    heads.timeout_ms,
    coalesce(heads.is_started, false) as is_started,
    pending.source_id is null and not dumps.is_recorder_off as is_idle
from stg_dumps as dumps
left join heads on dumps.source_id = heads.source_id
left join pending on dumps.source_id = pending.source_id
where not dumps.is_cut
