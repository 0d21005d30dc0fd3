-- Collectives that ranks entered with another operation, size or type under the same number of the same group. What may differ
-- does not count. Who differs from the most frequent form is the minority; with two forms equally frequent there is none.
-- `is_first`: no rank of it has an earlier mismatch.
-- grain: one row per cluster, dump_set, pg_key, seq
with entered as (
    select
        cluster,
        dump_set,
        pg_key,
        seq
    from int_rank_ops
    where not is_p2p and not is_batch_end and operation is not null
    group by cluster, dump_set, pg_key, seq
    having
        min(operation) != max(operation)
        or min(sizes_hash) != max(sizes_hash)
        or min(dtypes_hash) != max(dtypes_hash)
),

ops as (
    select
        ops.*,
        hash(ops.operation, ops.sizes_hash, ops.dtypes_hash) as form
    from int_rank_ops as ops
    inner join entered
        on
            ops.cluster = entered.cluster
            and ops.dump_set = entered.dump_set
            and ops.pg_key = entered.pg_key
            and ops.seq = entered.seq
    where not ops.is_p2p and not ops.is_batch_end and ops.operation is not null
    qualify count(*) over (partition by ops.source_id, ops.pg_key, ops.seq) = 1
),

forms as (
    select
        *,
        count(*) over (partition by cluster, dump_set, pg_key, seq, form) as n_alike,
        line = min(line) over (partition by source_id) as is_first
    from ops
),

counted as (
    select
        *,
        max(n_alike) over (partition by cluster, dump_set, pg_key, seq) as n_most
    from forms
)

select
    cluster,
    dump_set,
    pg_key,
    min(pg_name) as pg_name,
    seq,
    case
        when count(distinct operation) > 1 then 'type'
        when count(distinct dtypes_hash) > 1 then 'dtype'
        else 'size'
    end as kind,
    min(created_ns) as first_created_ns,
    count(*) as n_ranks,
    bool_and(is_first) as is_first,
    count(distinct form) filter (where n_alike = n_most) > 1 as is_tie,
    case when not is_tie then list(rank order by rank) filter (where n_alike < n_most) else [] end as minority,
    list(rank order by rank) as ranks,
    list(operation order by rank) as operations,
    list(source_id || ':' || line order by rank) as refs
from counted
group by cluster, dump_set, pg_key, seq
having count(distinct operation) > 1 or count(distinct sizes_hash) > 1 or count(distinct dtypes_hash) > 1
