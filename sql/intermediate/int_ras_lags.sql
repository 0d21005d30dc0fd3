-- Ranks that the reports of RAS tell of: those that do not answer, and those that launched fewer operations than others of the
-- largest communicator, where they are few. Of the text form a listed rank is behind only if the line in front of it counts fewer:
-- the report lists the smaller set, which may be the one ahead.
-- grain: one row per cluster, log_set, source_id, finding, rank
with largest as (
    select
        source_id,
        max(n_ranks) as n_ranks
    from stg_nccl_events
    where kind in ('ras_count', 'ras_missing')
    group by source_id
),

counts as (
    select
        events.*,
        max(events.last_enqueued) over (partition by events.source_id, events.pg_name, events.op) as most
    from stg_nccl_events as events
    inner join largest on events.source_id = largest.source_id and events.n_ranks = largest.n_ranks
    where events.kind = 'ras_count'
),

listed as (
    select
        cluster,
        log_set,
        source_id,
        kind,
        group_rank,
        ref,
        last_value(case when kind = 'ras_lag' then last_enqueued end ignore nulls) over (
            partition by source_id order by line rows between unbounded preceding and current row
        ) as launched,
        max(case when kind = 'ras_lag' then last_enqueued end) over (partition by source_id) as most
    from stg_nccl_events
    where kind in ('ras_lag', 'ras_rank')
),

behind as (
    select
        *,
        count(*) over (partition by source_id, pg_name, op) as n_behind
    from counts
    where last_enqueued < most
)

select
    cluster,
    log_set,
    source_id,
    'ras_lag' as finding,
    group_rank as rank,
    min(ref) as ref
from behind
where n_behind * 2 < n_ranks
group by cluster, log_set, source_id, group_rank
union all
select
    cluster,
    log_set,
    source_id,
    'ras_lag' as finding,
    group_rank as rank,
    min(ref) as ref
from listed
where kind = 'ras_rank' and launched < most
group by cluster, log_set, source_id, group_rank
union all
select
    events.cluster,
    events.log_set,
    events.source_id,
    'ras_missing' as finding,
    events.group_rank as rank,
    min(events.ref) as ref
from stg_nccl_events as events
inner join largest on events.source_id = largest.source_id and events.n_ranks = largest.n_ranks
where events.kind = 'ras_missing'
group by events.cluster, events.log_set, events.source_id, events.group_rank
