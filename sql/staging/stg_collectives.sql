-- Entries of the dumps in use, with the operation's name apart from its backend, and whether it is done. gloo leaves every state
-- at `scheduled`, there a retired operation is done. One that completed later than its timeout was freed by an abort: not done.
-- Sizes and types are hashed as far as all ranks must agree in them (compared_collectives). Where the layout names no group, the
-- rank-local number is its name; without members too, only the default group's number means the same on every rank.
-- grain: one row per source_id, line
with operations as (
    select
        profiling_name,
        case when contains(profiling_name, ':') then split_part(profiling_name, ':', 1) end as backend,
        regexp_replace(profiling_name, '^[a-z_]*:', '') as operation,
        coalesce(starts_with(operation, 'send ') or starts_with(operation, 'recv '), false) as is_transfer
    from (select distinct profiling_name from collectives)
),

compared as (
    select
        operations.*,
        coalesce(known.needs_all = 'true', false) as needs_all,
        coalesce(known.has_inputs = 'true', false) as has_inputs,
        coalesce(known.has_outputs = 'true', false) as has_outputs
    from operations
    left join compared_collectives as known on operations.operation = known.operation
)

select
    ops.cluster,
    ops.dump_set,
    ops.rank,
    ops.source_id,
    ops.line,
    case dumps.naming
        when 'named' then ops.pg_name
        when 'none' then ops.pg_id || case when ops.pg_id > 0 then '@' || ops.rank else '' end
        else cast(ops.pg_id as varchar)
    end as pg_name,
    ops.pg_desc,
    ops.collective_seq_id as seq,
    ops.p2p_seq_id as p2p_seq,
    compared.backend,
    compared.operation,
    coalesce(ops.is_p2p, compared.is_transfer, false) as is_p2p,
    coalesce(compared.operation = 'coalesced', false) as is_batch_end,
    coalesce(ops.state = 'started', false) as is_started,
    coalesce(ops.state = 'completed' and (ops.completed_ns - ops.created_ns) / 1e6 > ops.timeout_ms, false) as is_late,
    coalesce(
        case when compared.backend = 'gloo' then ops.is_retired else ops.state = 'completed' and not is_late end,
        true
    ) as is_done,
    compared.needs_all,
    case
        when compared.has_inputs and compared.has_outputs then hash(ops.input_sizes || ops.output_sizes)
        when compared.has_inputs then hash(ops.input_sizes)
        when compared.has_outputs then hash(ops.output_sizes)
    end as sizes_hash,
    case
        when compared.has_inputs and compared.has_outputs
            then hash(nullif(ops.input_dtypes, '[]') || nullif(ops.output_dtypes, '[]'))
        when compared.has_inputs then hash(nullif(ops.input_dtypes, '[]'))
        when compared.has_outputs then hash(nullif(ops.output_dtypes, '[]'))
    end as dtypes_hash,
    ops.created_ns,
    ops.completed_ns,
    ops.timeout_ms
from collectives as ops
inner join stg_dumps as dumps on ops.source_id = dumps.source_id
left join compared on ops.profiling_name is not distinct from compared.profiling_name
