-- Who waits for whom: the members that a rank's oldest pending operation needs, and where each of them is. A point-to-point
-- operation needs its peer; a batch needs the peers of all its transfers. Of the members at the same collective the first one
-- stands for all. `lag`: operations of the group that a member ahead has done and this rank still lists as pending.
-- grain: one row per cluster, dump_set, rank, member
with needed as (
    select
        heads.cluster,
        heads.dump_set,
        heads.rank,
        members.member,
        members.is_inferred,
        null as is_met,
        null as is_queued
    from int_rank_heads as heads
    inner join int_group_members as members
        on heads.cluster = members.cluster and heads.dump_set = members.dump_set and heads.pg_key = members.pg_key
    where not heads.is_p2p and heads.rank != members.member
    union all
    select
        ours.cluster,
        ours.dump_set,
        ours.rank,
        ours.member,
        bool_or(ours.is_inferred),
        bool_and(coalesce(theirs.is_head, false)),
        bool_and(theirs.member is not null)
    from int_rank_transfers as ours
    left join int_rank_transfers as theirs
        on
            ours.cluster = theirs.cluster
            and ours.dump_set = theirs.dump_set
            and ours.pg_key = theirs.pg_key
            and ours.member = theirs.rank
            and ours.rank = theirs.member
            and ours.is_send != theirs.is_send
    where ours.is_head
    group by ours.cluster, ours.dump_set, ours.rank, ours.member
),

places as (
    select cluster, dump_set, pg_key, seq, min(rank, 2) as first_ranks
    from int_rank_heads
    where not is_p2p
    group by cluster, dump_set, pg_key, seq
)

select
    heads.cluster,
    heads.dump_set,
    heads.rank,
    heads.source_id,
    heads.line,
    heads.pg_key,
    heads.pg_name,
    heads.operation,
    heads.seq,
    heads.is_p2p,
    heads.is_started,
    heads.backend,
    heads.created_ns,
    needed.member,
    needed.is_inferred,
    files.source_id as member_source_id,
    case
        when files.file_state = 'cut' then case when theirs.reached_seq >= heads.seq then 'cut' else 'unreadable' end
        when files.file_state != 'dumped' then files.file_state
        when not heads.is_p2p and theirs.passed_seq >= heads.seq then 'ahead'
        when needed.is_met or (there.pg_key = heads.pg_key and not there.is_p2p and there.seq = heads.seq) then 'at_same_op'
        when there.is_idle then 'idle'
        when needed.is_queued or (not heads.is_p2p and theirs.reached_seq >= heads.seq) then 'queued'
        else 'elsewhere'
    end as situation,
    case when not heads.is_p2p then theirs.passed_seq - heads.seq + 1 end as lag
from int_rank_heads as heads
inner join needed on heads.cluster = needed.cluster and heads.dump_set = needed.dump_set and heads.rank = needed.rank
left join int_dump_ranks as files
    on needed.cluster = files.cluster and needed.dump_set = files.dump_set and needed.member = files.rank
left join int_rank_heads as there
    on needed.cluster = there.cluster and needed.dump_set = there.dump_set and needed.member = there.rank
left join int_rank_groups as theirs
    on
        needed.cluster = theirs.cluster
        and needed.dump_set = theirs.dump_set
        and needed.member = theirs.rank
        and heads.pg_key = theirs.pg_key
left join places
    on
        heads.cluster = places.cluster
        and heads.dump_set = places.dump_set
        and heads.pg_key = places.pg_key
        and heads.seq = places.seq
        and not heads.is_p2p
where
    heads.is_p2p
    or situation != 'at_same_op'
    or needed.member = case when heads.rank = places.first_ranks[1] then places.first_ranks[2] else places.first_ranks[1] end
