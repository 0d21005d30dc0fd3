-- What divides the messages of a pipeline: the collectives of each of its ranks in the largest group that holds the whole pipeline.
-- The last 16 are kept; a ring that still holds the first message of all has a span before the first of them, under number -1.
-- grain: one row per source_id, pg_key, after_seq
with pipes as (
    select
        cluster,
        dump_set,
        source_id,
        pg_key,
        min(p2p_seq) = 1 as is_whole
    from int_transfers
    group by cluster, dump_set, source_id, pg_key
),

sizes as (
    select
        cluster,
        dump_set,
        pg_key,
        count(*) as n_members
    from int_group_members
    group by cluster, dump_set, pg_key
),

dividing as (
    select
        pipes.cluster,
        pipes.dump_set,
        pipes.pg_key,
        others.pg_key as dividing_key
    from (select distinct cluster, dump_set, pg_key from pipes) as pipes
    inner join int_group_members as own
        on pipes.cluster = own.cluster and pipes.dump_set = own.dump_set and pipes.pg_key = own.pg_key
    inner join int_group_members as others
        on own.cluster = others.cluster and own.dump_set = others.dump_set and own.member = others.member
    inner join sizes as needed
        on pipes.cluster = needed.cluster and pipes.dump_set = needed.dump_set and pipes.pg_key = needed.pg_key
    inner join sizes on others.cluster = sizes.cluster and others.dump_set = sizes.dump_set and others.pg_key = sizes.pg_key
    group by pipes.cluster, pipes.dump_set, pipes.pg_key, others.pg_key
    having count(*) = min(needed.n_members)
    qualify row_number() over (
        partition by pipes.cluster, pipes.dump_set, pipes.pg_key
        order by min(sizes.n_members) desc, others.pg_key
    ) = 1
),

collectives as (
    select
        ops.source_id,
        ops.pg_key as dividing_key,
        ops.seq as after_seq,
        min(ops.line) as line,
        count(*) over (partition by ops.source_id, ops.pg_key) <= 16 as is_all
    from int_rank_ops as ops
    inner join (select distinct cluster, dump_set, dividing_key from dividing) as used
        on ops.cluster = used.cluster and ops.dump_set = used.dump_set and ops.pg_key = used.dividing_key
    where not ops.is_p2p and ops.seq is not null
    group by ops.source_id, ops.pg_key, ops.seq
    qualify row_number() over (partition by ops.source_id, ops.pg_key order by ops.seq desc) <= 16
),

opened as (
    select
        pipes.source_id,
        pipes.pg_key,
        collectives.after_seq,
        collectives.line,
        pipes.is_whole and collectives.is_all as has_first
    from pipes
    inner join dividing
        on pipes.cluster = dividing.cluster and pipes.dump_set = dividing.dump_set and pipes.pg_key = dividing.pg_key
    inner join collectives
        on pipes.source_id = collectives.source_id and dividing.dividing_key = collectives.dividing_key
)

select
    source_id,
    pg_key,
    after_seq,
    line,
    lead(line) over (partition by source_id, pg_key order by line) as end_line
from opened
union all
select
    source_id,
    pg_key,
    -1,
    0,
    min(line)
from opened
where has_first
group by source_id, pg_key
