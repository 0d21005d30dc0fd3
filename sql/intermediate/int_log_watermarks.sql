-- How far each rank came in each process group, from its lines alone: where it waits (its first timeout there), what it has enqueued
-- and completed. A timeout line does not name its group: it belongs to that of the same rank's failure line with the same number,
-- else to the nameless one (empty).
-- grain: one row per cluster, log_set, pg_name, rank
with marks as (
    select
        cluster,
        log_set,
        rank,
        group_rank,
        pg_name,
        role,
        seq,
        op,
        last_enqueued,
        last_completed,
        ref
    from stg_nccl_events
    where kind in ('watermark', 'watchdog_timeout') and rank is not null
),

groups as (
    select
        cluster,
        log_set,
        rank,
        seq,
        min(pg_name) as pg_name
    from marks
    where pg_name is not null and seq is not null
    group by cluster, log_set, rank, seq
    having count(distinct pg_name) = 1
),

placed as (
    select
        marks.* exclude (pg_name),
        coalesce(marks.pg_name, groups.pg_name, '') as pg_name
    from marks
    left join groups
        on
            marks.cluster = groups.cluster and marks.log_set = groups.log_set
            and marks.rank = groups.rank and marks.seq = groups.seq
)

select
    cluster,
    log_set,
    pg_name,
    rank,
    min(group_rank) as group_rank,
    min(seq) filter (where role = 'waiter') as waits_at,
    min_by(op, seq) filter (where role = 'waiter' and op is not null) as op,
    max(last_enqueued) as last_enqueued,
    max(last_completed) as last_completed,
    list_sort(list(distinct ref)) as refs
from placed
group by cluster, log_set, pg_name, rank
