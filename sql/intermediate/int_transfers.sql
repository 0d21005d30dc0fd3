-- Sends and receives of the sets in which a rank waits in one, with the peer; the ends of batches are left out.
-- grain: one row per source_id, line
with waiting as (
    select distinct cluster, dump_set
    from int_rank_heads
    where is_p2p
)

select
    ops.cluster,
    ops.dump_set,
    ops.rank,
    ops.source_id,
    ops.line,
    ops.pg_key,
    ops.pg_name,
    ops.p2p_seq,
    ops.is_send,
    peers.member
from int_rank_ops as ops
inner join waiting on ops.cluster = waiting.cluster and ops.dump_set = waiting.dump_set
inner join int_group_members as peers
    on
        ops.cluster = peers.cluster
        and ops.dump_set = peers.dump_set
        and ops.pg_key = peers.pg_key
        and ops.peer_number = peers.member_number
where ops.is_p2p and not ops.is_batch_end
