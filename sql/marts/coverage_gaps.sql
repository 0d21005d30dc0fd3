-- Which node-days of the window have no logs, days that follow each other as one row: what happened then is not known. Days on which
-- only an agent that watches GPUs ran are days without logs for all the rest of the node.
-- grain: one row per population, node, first_day
with nodes as (
    select cluster, node, min(from_at) as from_at, max(to_at) as to_at
    from int_cells_service
    group by cluster, node

    union all

    select known.cluster, known.node, reported.start_at, reported.end_at
    from (select cluster, node from stg_coverage union select cluster, node from stg_attempt_nodes) as known
    anti join int_inventory as devices on known.cluster = devices.cluster and known.node = devices.node
    cross join int_window as reported
),

bounds as (
    select
        cluster, node,
        cast(timezone('UTC', from_at) as date) as first_day,
        cast(timezone('UTC', to_at - interval 1 microsecond) as date) as last_day
    from nodes
    where to_at > from_at
),

seen as (
    select bounds.cluster, bounds.node, coverage.day, coalesce(coverage.is_gpu_only, false) as is_gpu_only
    from bounds
    inner join stg_coverage as coverage
        on
            bounds.cluster = coverage.cluster and bounds.node = coverage.node
            and coverage.day >= bounds.first_day and coverage.day <= bounds.last_day
),

gaps as (
    select cluster, node, day + 1 as first_day, lead(day) over (partition by cluster, node order by day) - 1 as last_day, 'no_logs' as gap
    from (
        select cluster, node, day from seen
        union all
        select cluster, node, first_day - 1 from bounds
        union all
        select cluster, node, last_day + 1 from bounds
    )

    union all

    select cluster, node, min(day), max(day), 'gpu_agent_only'
    from (
        select *, day - cast(row_number() over (partition by cluster, node order by day) as integer) as island
        from seen
        where is_gpu_only
    )
    group by cluster, node, island
)

select
    gaps.cluster as population,
    gaps.node,
    gaps.first_day,
    gaps.last_day,
    gaps.last_day - gaps.first_day + 1 as n_days,
    gaps.gap,
    cast(bounds.last_day - bounds.first_day + 1 as bigint) as n_days_in_service,
    coalesce(counted.n_days, 0) as n_days_with_logs
from gaps
inner join bounds on gaps.cluster = bounds.cluster and gaps.node = bounds.node
left join (select cluster, node, count(*) as n_days from seen group by all) as counted
    on gaps.cluster = counted.cluster and gaps.node = counted.node
where gaps.last_day >= gaps.first_day
order by population, gaps.node, gaps.first_day
