-- Entries of the dumps in use, with the operation's name apart from its backend, and whether it is done. gloo leaves every state
-- at `scheduled`, there a retired operation is done. One that completed later than its timeout was freed by an abort: not done.
-- Sizes and types are hashed as far as all ranks must agree in them (compared_collectives). Where the layout names no group, the
-- rank-local number is its name; without members too, only the default group's number means the same on every rank.
-- grain: one row per source_id, line
with named as (
    select
        collectives.source_id,
        collectives.line,
        collectives.cluster,
        collectives.dump_set,
        collectives.rank,
        collectives.pg_desc,
        collectives.collective_seq_id as seq,
        collectives.p2p_seq_id as p2p_seq,
        collectives.is_p2p,
        collectives.is_retired,
        collectives.state,
        collectives.input_sizes,
        collectives.output_sizes,
        nullif(collectives.input_dtypes, '[]') as input_dtypes,
        nullif(collectives.output_dtypes, '[]') as output_dtypes,
        collectives.created_ns,
        collectives.completed_ns,
        collectives.timeout_ms,
        case dumps.naming
            when 'named' then collectives.pg_name
            when 'none' then collectives.pg_id || case when collectives.pg_id > 0 then '@' || collectives.rank else '' end
            else cast(collectives.pg_id as varchar)
        end as pg_name,
        case when contains(profiling_name, ':') then split_part(profiling_name, ':', 1) end as backend,
        regexp_replace(profiling_name, '^[a-z_]*:', '') as operation
    from collectives
    inner join stg_dumps as dumps on collectives.source_id = dumps.source_id
)

select
    named.cluster,
    named.dump_set,
    named.rank,
    named.source_id,
    named.line,
    named.pg_name,
    named.pg_desc,
    named.seq,
    named.p2p_seq,
    named.backend,
    named.operation,
    coalesce(named.is_p2p, starts_with(named.operation, 'send ') or starts_with(named.operation, 'recv '), false) as is_p2p,
    coalesce(named.operation = 'coalesced', false) as is_batch_end,
    coalesce(named.state = 'started', false) as is_started,
    coalesce(named.state = 'completed' and named.completed_ns - named.created_ns > named.timeout_ms * 1000000, false) as is_late,
    coalesce(
        case when named.backend = 'gloo' then named.is_retired else named.state = 'completed' and not is_late end,
        true
    ) as is_done,
    coalesce(compared.needs_all = 'true', false) as needs_all,
    case
        when compared.has_inputs = 'true' and compared.has_outputs = 'true' then hash(named.input_sizes || named.output_sizes)
        when compared.has_inputs = 'true' then hash(named.input_sizes)
        when compared.has_outputs = 'true' then hash(named.output_sizes)
    end as sizes_hash,
    case
        when compared.has_inputs = 'true' and compared.has_outputs = 'true' then hash(named.input_dtypes || named.output_dtypes)
        when compared.has_inputs = 'true' then hash(named.input_dtypes)
        when compared.has_outputs = 'true' then hash(named.output_dtypes)
    end as dtypes_hash,
    named.created_ns,
    named.completed_ns,
    named.timeout_ms
from named
left join compared_collectives as compared on named.operation = compared.operation
