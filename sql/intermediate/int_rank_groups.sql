-- Watermarks of each rank in each of its groups. The recorder's own (enqueued, completed) count the last operation of whichever
-- kind: they are left out of `reached_seq` and `passed_seq` in a group that has point-to-point operations; a rank whose
-- operations were freed by an abort has no completed mark to trust. `joined_seq`: the last operation seen done that no member can
-- be missing in (gloo, which shows failed ones as done, has none).
-- grain: one row per cluster, dump_set, rank, pg_key
with marks as (
    select
        source_id,
        pg_name,
        max(last_enqueued) as enqueued_seq,
        max(last_completed) as completed_seq
    from stg_process_groups
    where pg_id is not null and pg_name is not null
    group by source_id, pg_name
),

seen as (
    select
        source_id,
        pg_key,
        min(seq) filter (where not is_p2p) as ring_start_seq,
        max(seq) filter (where not is_p2p) as last_seq,
        max(seq) filter (where not is_p2p and is_done) as done_seq,
        max(seq) filter (where not is_p2p and is_done and needs_all and backend is distinct from 'gloo') as joined_seq,
        min(seq) filter (where not is_p2p and is_pending) as first_pending_seq,
        count(*) filter (where is_pending) as n_pending,
        coalesce(bool_or(is_late), false) as has_late,
        coalesce(bool_or(backend = 'gloo'), false) as is_gloo
    from int_rank_ops
    group by source_id, pg_key
),

mixed as (
    select distinct
        cluster,
        dump_set,
        pg_key
    from int_rank_ops
    where is_p2p
)

select
    keys.cluster,
    keys.dump_set,
    keys.rank,
    keys.pg_key,
    keys.pg_name,
    keys.pg_desc,
    keys.source_id,
    marks.enqueued_seq,
    marks.completed_seq,
    seen.ring_start_seq,
    seen.first_pending_seq,
    case when not coalesce(seen.has_late, false) then seen.joined_seq end as joined_seq,
    coalesce(seen.n_pending, 0) as n_pending,
    coalesce(seen.is_gloo, false) as is_gloo,
    greatest(seen.last_seq, case when mixed.pg_key is null then marks.enqueued_seq end) as reached_seq,
    greatest(seen.done_seq, case when mixed.pg_key is null and not coalesce(seen.has_late, false) then marks.completed_seq end)
        as passed_seq
from int_group_keys as keys
left join marks on keys.source_id = marks.source_id and keys.pg_name = marks.pg_name
left join seen on keys.source_id = seen.source_id and keys.pg_key = seen.pg_key
left join mixed on keys.cluster = mixed.cluster and keys.dump_set = mixed.dump_set and keys.pg_key = mixed.pg_key
