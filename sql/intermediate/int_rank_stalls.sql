-- Operations that a rank lists as pending although a peer has done them, and needed this rank for them: the rank no longer sees its
-- own completions. Not told on gloo, nor for a rank that a peer has passed altogether: its dump is of an earlier moment.
-- grain: one row per cluster, dump_set, rank, pg_key
with furthest as (
    select
        cluster,
        dump_set,
        pg_key,
        max(passed_seq) as passed_seq
    from int_rank_groups
    where not is_gloo
    group by cluster, dump_set, pg_key
)

select
    ops.cluster,
    ops.dump_set,
    ops.rank,
    ops.pg_key,
    min(ops.pg_name) as pg_name,
    min(ops.seq) as seq,
    arg_min(ops.operation, ops.seq) as operation,
    arg_min(ops.source_id || ':' || ops.line, ops.seq) as ref,
    count(distinct ops.seq) as n_done_elsewhere
from int_rank_ops as ops
inner join furthest on ops.cluster = furthest.cluster and ops.dump_set = furthest.dump_set and ops.pg_key = furthest.pg_key
inner join int_rank_groups as own on ops.source_id = own.source_id and ops.pg_key = own.pg_key
where
    ops.is_pending
    and ops.needs_all
    and not ops.is_p2p
    and ops.seq <= furthest.passed_seq
    and own.reached_seq + 2 > furthest.passed_seq
group by ops.cluster, ops.dump_set, ops.rank, ops.pg_key
