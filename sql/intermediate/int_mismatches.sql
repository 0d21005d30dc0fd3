-- Collectives that ranks entered with another operation, size or type under the same number of the same group. What may differ
-- does not count: roots, all_to_all, and lists of unequal parts.
-- grain: one row per cluster, dump_set, pg_key, seq
with comparable (operation, has_inputs, has_outputs) as (
    values
    ('all_reduce', true, true),
    ('all_reduce_coalesced', true, true),
    ('broadcast', true, true),
    ('_broadcast_oop', false, true),
    ('reduce', true, false),
    ('_all_gather_base', true, true),
    ('_reduce_scatter_base', true, true),
    ('gather', true, false),
    ('scatter', false, true)
),

compared as (
    select
        ops.cluster,
        ops.dump_set,
        ops.pg_key,
        ops.pg_name,
        ops.seq,
        ops.rank,
        ops.source_id,
        ops.line,
        ops.created_ns,
        ops.operation,
        case when comparable.has_inputs then ops.input_sizes end as input_sizes,
        case when comparable.has_outputs then ops.output_sizes end as output_sizes,
        case when comparable.has_inputs then nullif(ops.input_dtypes, '[]') end as input_dtypes,
        case when comparable.has_outputs then nullif(ops.output_dtypes, '[]') end as output_dtypes
    from int_rank_ops as ops
    left join comparable on ops.operation = comparable.operation
    where not ops.is_p2p and not ops.is_batch_end and ops.seq is not null and ops.operation is not null
    qualify count(*) over (partition by ops.source_id, ops.pg_key, ops.seq) = 1
)

select
    cluster,
    dump_set,
    pg_key,
    min(pg_name) as pg_name,
    seq,
    case
        when count(distinct operation) > 1 then 'type'
        when count(distinct input_dtypes) > 1 or count(distinct output_dtypes) > 1 then 'dtype'
        else 'size'
    end as kind,
    min(created_ns) as first_created_ns,
    count(*) as n_ranks,
    list(source_id || ':' || line order by rank) as refs
from compared
group by cluster, dump_set, pg_key, seq
having
    count(distinct operation) > 1
    or count(distinct input_sizes) > 1
    or count(distinct output_sizes) > 1
    or count(distinct input_dtypes) > 1
    or count(distinct output_dtypes) > 1
