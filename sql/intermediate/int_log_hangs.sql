-- Ranks that watermarks convict. never_joined: waits nowhere, nothing pending, behind an operation of the group that others wait in,
-- and not more such ranks than waiters. sequence_shift, op_mismatch, completion_stuck: all ranks from 0 on wait, none is silent, a clear majority
-- at one operation and few at another number, another operation, or the same operation at least two before. The rank that a
-- launcher calls the root cause is not asked.
-- grain: one row per cluster, log_set, finding, pg_name, rank
with groups as (
    select
        cluster,
        log_set,
        pg_name,
        min(waits_at) as first_waited,
        count(waits_at) as n_waiters
    from int_log_watermarks
    group by cluster, log_set, pg_name
    having count(waits_at) > 0
),

idle as (
    select
        marks.*,
        groups.first_waited,
        groups.n_waiters,
        count(*) over (partition by marks.cluster, marks.log_set, marks.pg_name) as n_idle
    from int_log_watermarks as marks
    inner join groups
        on marks.cluster = groups.cluster and marks.log_set = groups.log_set and marks.pg_name = groups.pg_name
    where
        marks.waits_at is null
        and marks.last_enqueued = marks.last_completed
        and marks.last_enqueued < groups.first_waited
        and not exists (
            select 1
            from int_log_watermarks as elsewhere
            where
                elsewhere.cluster = marks.cluster and elsewhere.log_set = marks.log_set
                and elsewhere.rank = marks.rank and elsewhere.waits_at is not null
        )
),

waiting as (
    select
        cluster,
        log_set,
        pg_name,
        rank,
        group_rank,
        waits_at,
        op,
        refs,
        count(*) over (partition by cluster, log_set, pg_name, waits_at, op) as n_alike,
        count(*) over (partition by cluster, log_set, pg_name) as n_all,
        max(rank) over (partition by cluster, log_set, pg_name) as last_rank,
        bool_and(coalesce(rank = group_rank, false)) over (partition by cluster, log_set, pg_name) as is_one_group
    from int_log_watermarks
    where waits_at is not null and op is not null
),

majority as (
    select distinct
        cluster,
        log_set,
        pg_name,
        waits_at,
        op
    from waiting
    where n_alike * 3 > n_all * 2 and is_one_group and last_rank + 1 = n_all
)

select
    cluster,
    log_set,
    'never_joined' as finding,
    pg_name,
    rank,
    first_waited as seq,
    refs
from idle
where n_idle <= n_waiters
union all
select
    few.cluster,
    few.log_set,
    case
        when few.waits_at = many.waits_at then 'op_mismatch'
        when few.op != many.op then 'sequence_shift'
        else 'completion_stuck'
    end as finding,
    few.pg_name,
    few.rank,
    few.waits_at as seq,
    few.refs
from waiting as few
inner join majority as many on few.cluster = many.cluster and few.log_set = many.log_set and few.pg_name = many.pg_name
where few.op != many.op or few.waits_at <= many.waits_at - 2
