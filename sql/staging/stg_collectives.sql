-- Entries of the dumps in use, with the operation's name apart from its backend, and whether it is done. gloo leaves every state
-- at `scheduled`, there a retired operation is done. One that completed later than its timeout was freed by an abort: not done.
-- grain: one row per source_id, line
with named as (
    select
        collectives.*,
        case when contains(profiling_name, ':') then split_part(profiling_name, ':', 1) end as backend,
        regexp_replace(profiling_name, '^[a-z_]*:', '') as operation,
        coalesce(state = 'completed' and completed_ns - created_ns > timeout_ms * 1000000, false) as is_late
    from collectives
)

select
    named.cluster,
    named.dump_set,
    named.rank,
    named.source_id,
    named.line,
    named.pg_id,
    named.pg_name,
    named.pg_desc,
    named.collective_seq_id as seq,
    named.p2p_seq_id as p2p_seq,
    named.backend,
    named.operation,
    coalesce(named.is_p2p, false) as is_p2p,
    coalesce(named.operation = 'coalesced', false) as is_batch_end,
    named.is_late,
    coalesce(
        case when named.backend = 'gloo' then named.is_retired else named.state = 'completed' and not named.is_late end,
        true
    ) as is_done,
    named.input_sizes,
    named.output_sizes,
    named.input_dtypes,
    named.output_dtypes,
    named.created_ns,
    named.timeout_ms
from named
inner join stg_dumps as dumps on named.source_id = dumps.source_id
