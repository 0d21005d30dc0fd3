-- Where two forms of an operation are equally frequent: the ranks whose operations from there on equal those of other ranks some
-- numbers earlier. Such a rank has operations too many, or, where these are usual in the group, the others have skipped them.
-- grain: one row per cluster, dump_set, pg_key, seq, rank, other
with ties as (
    select
        cluster,
        dump_set,
        pg_key,
        seq
    from int_mismatches
    where is_tie
    qualify row_number() over (partition by cluster, dump_set, pg_key order by seq) = 1
),

forms as (
    select
        ops.cluster,
        ops.dump_set,
        ops.pg_key,
        ties.seq as tie_seq,
        ops.rank,
        ops.seq,
        hash(ops.operation, ops.sizes_hash, ops.dtypes_hash) as form
    from int_rank_ops as ops
    inner join ties on ops.cluster = ties.cluster and ops.dump_set = ties.dump_set and ops.pg_key = ties.pg_key
    where not ops.is_p2p and not ops.is_batch_end and ops.operation is not null
),

shifts as (
    select
        ours.cluster,
        ours.dump_set,
        ours.pg_key,
        ours.tie_seq,
        ours.rank,
        theirs.rank as other,
        ours.seq - theirs.seq as n_more
    from forms as ours
    inner join forms as theirs
        on
            ours.cluster = theirs.cluster
            and ours.dump_set = theirs.dump_set
            and ours.pg_key = theirs.pg_key
            and ours.rank != theirs.rank
            and ours.seq - theirs.seq between 1 and 3
    where theirs.seq >= ours.tie_seq
    group by ours.cluster, ours.dump_set, ours.pg_key, ours.tie_seq, ours.rank, theirs.rank, n_more
    having bool_and(ours.form = theirs.form)
    qualify row_number() over (partition by ours.cluster, ours.dump_set, ours.pg_key, ours.rank, theirs.rank order by n_more) = 1
)

select
    shifts.cluster,
    shifts.dump_set,
    shifts.pg_key,
    shifts.tie_seq as seq,
    shifts.rank,
    shifts.other,
    shifts.n_more,
    bool_and(exists (
        select 1
        from forms as earlier
        where
            earlier.cluster = more.cluster
            and earlier.dump_set = more.dump_set
            and earlier.pg_key = more.pg_key
            and earlier.seq < shifts.tie_seq
            and earlier.form = more.form
    )) as is_usual
from shifts
inner join forms as more
    on
        shifts.cluster = more.cluster
        and shifts.dump_set = more.dump_set
        and shifts.pg_key = more.pg_key
        and shifts.rank = more.rank
        and more.seq - shifts.tie_seq between 0 and shifts.n_more - 1
group by shifts.cluster, shifts.dump_set, shifts.pg_key, shifts.tie_seq, shifts.rank, shifts.other, shifts.n_more
