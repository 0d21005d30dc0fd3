-- Everything that lines alone tell: against whom, or that somebody waits or has lost a peer.
-- grain: one row per cluster, log_set, finding, rank, ref
with told as (
    select
        cluster,
        log_set,
        finding,
        hang_class,
        rank,
        ref
    from int_log_errors
    union all
    select
        cluster,
        log_set,
        finding,
        null as hang_class,
        null as rank,
        ref
    from int_log_links
    where finding != 'only_cascade'
    union all
    select
        cluster,
        log_set,
        finding,
        null as hang_class,
        rank,
        unnest(refs) as ref
    from int_log_hangs
    union all
    select
        cluster,
        log_set,
        'desync' as finding,
        null as hang_class,
        unnest(ranks) as rank,
        ref
    from stg_nccl_events
    where kind = 'desync' and role = 'root'
    union all
    select
        cluster,
        log_set,
        finding,
        null as hang_class,
        rank,
        ref
    from int_ras_lags
    union all
    select
        cluster,
        log_set,
        case when kind = 'ras_error' then 'ras_lag' when role = 'waiter' then 'only_waiters' else 'only_cascade' end as finding,
        null as hang_class,
        null as rank,
        ref
    from stg_nccl_events
    where role in ('waiter', 'cascade') or (kind = 'ras_error' and error = 'mismatch')
)

select distinct *
from told
