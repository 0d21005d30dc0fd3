-- Entries with their group and whether they are pending. The members of a batch carry no state of their own: the entry that ends
-- the batch has it. A collective behind which a later one of its group is done is only seen late.
-- grain: one row per source_id, line
with ends as (
    select
        source_id,
        pg_name,
        is_p2p,
        case when is_p2p then p2p_seq else seq end as batch,
        bool_and(is_done) as is_done
    from stg_collectives
    where is_batch_end
    group by source_id, pg_name, is_p2p, batch
),

settled as (
    select
        ops.* exclude (is_done, pg_desc),
        keys.pg_key,
        coalesce(ends.is_done, ops.is_done) as is_done
    from stg_collectives as ops
    inner join int_group_keys as keys on ops.source_id = keys.source_id and ops.pg_name = keys.pg_name
    left join ends
        on
            ops.source_id = ends.source_id
            and ops.pg_name = ends.pg_name
            and ops.is_p2p = ends.is_p2p
            and case when ops.is_p2p then ops.p2p_seq else ops.seq end = ends.batch
),

passed as (
    select
        source_id,
        pg_key,
        max(seq) as seq
    from settled
    where is_done and not is_p2p
    group by source_id, pg_key
)

select
    settled.*,
    case when settled.is_p2p then starts_with(settled.operation, 'send ') end as is_send,
    case
        when settled.is_p2p
            then try_cast(regexp_extract(settled.operation, '^(?:send|recv) [0-9]+(?:->|<-)([0-9]+)$', 1) as bigint)
    end as peer_number,
    not settled.is_done and (settled.is_p2p or passed.seq is null or settled.seq > passed.seq) as is_pending
from settled
left join passed on settled.source_id = passed.source_id and settled.pg_key = passed.pg_key
