-- Where two forms of an operation are equally frequent: whether each rank's step, from its operation before to this one, is one that
-- some rank of the group had made earlier.
-- grain: one row per cluster, dump_set, pg_key, seq, rank
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

steps as (
    select
        ops.cluster,
        ops.dump_set,
        ops.pg_key,
        ties.seq as tie_seq,
        ops.rank,
        ops.seq,
        hash(ops.operation, ops.sizes_hash, ops.dtypes_hash) as form,
        lag(form) over (partition by ops.source_id, ops.pg_key order by ops.seq, ops.line) as form_before
    from int_rank_ops as ops
    inner join ties on ops.cluster = ties.cluster and ops.dump_set = ties.dump_set and ops.pg_key = ties.pg_key
    where not ops.is_p2p and not ops.is_batch_end and ops.operation is not null
),

made as (
    select distinct
        cluster,
        dump_set,
        pg_key,
        form_before,
        form
    from steps
    where seq < tie_seq and form_before is not null
)

select
    steps.cluster,
    steps.dump_set,
    steps.pg_key,
    steps.seq,
    steps.rank,
    bool_or(made.form is not null) as is_usual
from steps
left join made
    on
        steps.cluster = made.cluster
        and steps.dump_set = made.dump_set
        and steps.pg_key = made.pg_key
        and steps.form = made.form
        and steps.form_before = made.form_before
where steps.seq = steps.tie_seq and steps.form_before is not null
group by steps.cluster, steps.dump_set, steps.pg_key, steps.seq, steps.rank
