-- Pending sends and receives with the peer that each needs. All transfers of a batch stand for it: those of one pair are taken in
-- order, so that the first pending one of a direction is the one to match.
-- grain: one row per cluster, dump_set, rank, pg_key, is_send, member
select
    ops.cluster,
    ops.dump_set,
    ops.rank,
    ops.pg_key,
    ops.is_send,
    peers.member,
    bool_or(peers.is_inferred) as is_inferred,
    coalesce(bool_or(ops.p2p_seq = heads.seq), false) as is_head
from int_rank_ops as ops
inner join int_group_members as peers
    on
        ops.cluster = peers.cluster
        and ops.dump_set = peers.dump_set
        and ops.pg_key = peers.pg_key
        and ops.peer_number = peers.member_number
left join int_rank_heads as heads on ops.source_id = heads.source_id and ops.pg_key = heads.pg_key and heads.is_p2p
where ops.is_p2p and ops.is_pending
group by ops.cluster, ops.dump_set, ops.rank, ops.pg_key, ops.is_send, peers.member
