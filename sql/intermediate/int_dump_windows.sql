-- Dumps by windows of time: ranks whose entries all lie later than those of others, by more than clocks and stragglers explain,
-- have a later window. A rank without entries has none.
-- grain: one row per cluster, dump_set, rank
with seen as (
    select
        dumps.cluster,
        dumps.dump_set,
        dumps.rank,
        dumps.source_id,
        min(ops.created_ns) as first_ns,
        max(greatest(ops.created_ns, ops.completed_ns)) as last_ns
    from stg_dumps as dumps
    inner join int_rank_ops as ops on dumps.source_id = ops.source_id
    where not ops.is_late and ops.created_ns is not null
    group by dumps.cluster, dumps.dump_set, dumps.rank, dumps.source_id
),

apart as (
    select
        seen.*,
        first_ns - max(last_ns) over (
            partition by cluster, dump_set order by first_ns, rank rows between unbounded preceding and 1 preceding
        ) > parameters.dump_gap_s * 1e9 as is_later
    from seen
    cross join parameters
)

select
    cluster,
    dump_set,
    rank,
    source_id,
    first_ns,
    last_ns,
    count(*) filter (where is_later) over (partition by cluster, dump_set order by first_ns, rank) as window_number
from apart
