-- Lines whose writer tells an error of its own: CUDA errors, operations whose sizes differ, ports that went down, a watchdog that stands
-- still. A CUDA error or a standstill of a rank that waited before is a cascade; so is a standstill of most ranks. A CUDA error of a
-- card finds its rank by its placement.
-- grain: one row per cluster, log_set, ref
with waiters as (
    select distinct
        cluster,
        log_set,
        rank
    from int_log_watermarks
    where waits_at is not null
),

seen as (
    select
        cluster,
        log_set,
        count(distinct rank) as n_ranks,
        count(distinct rank) filter (where kind = 'watchdog_stuck') as n_stuck
    from stg_nccl_events
    group by cluster, log_set
),

own as (
    select
        events.cluster,
        events.log_set,
        case events.kind
            when 'mismatch' then 'op_mismatch'
            when 'gloo_mismatch' then 'op_mismatch'
            when 'net_ib_event' then 'network_path'
            else events.kind
        end as finding,
        words.hang_class,
        case when events.kind in ('cuda_error', 'watchdog_stuck') then coalesce(events.rank, places.rank) end as rank,
        events.ref
    from stg_nccl_events as events
    inner join seen on events.cluster = seen.cluster and events.log_set = seen.log_set
    left join stg_cuda_errors as words
        on events.kind = 'cuda_error' and contains(events.error, lower(words.words))
    left join int_placements as places
        on
            events.cluster = places.cluster and events.log_set = places.log_set
            and events.node = places.node and events.local_gpu = places.local_gpu
    where
        (events.kind in ('cuda_error', 'mismatch', 'gloo_mismatch') and events.role = 'root')
        or (events.kind = 'net_ib_event' and events.role = 'root')
        or (events.kind = 'watchdog_stuck' and (seen.n_stuck = 1 or seen.n_stuck * 2 <= seen.n_ranks))
)

select own.*
from own
anti join waiters on own.cluster = waiters.cluster and own.log_set = waiters.log_set and own.rank = waiters.rank
qualify row_number() over (partition by own.cluster, own.log_set, own.ref order by own.hang_class nulls last, own.rank) = 1
