-- How much of the time in service some log was seen: a node-day without logs is not failure-free.
-- grain: one row per cluster
with nodes as (
    select cluster, node from int_inventory
    union
    select cluster, node from stg_coverage
    union
    select cluster, node from stg_attempt_nodes
),

days as (
    select coverage.cluster, count(*) as n_node_days
    from stg_coverage as coverage
    cross join int_window as reported
    where coverage.last_at >= reported.start_at and coverage.first_at < reported.end_at
    group by coverage.cluster
)

select
    nodes.cluster,
    count(*) as n_nodes,
    any_value(coalesce(days.n_node_days, 0)) as n_node_days_observed,
    count(*) * any_value(date_diff('day', cast(reported.start_at as date), cast(reported.end_at - interval 1 microsecond as date)) + 1) as n_node_days,
    round(any_value(coalesce(days.n_node_days, 0)) / nullif(
        count(*) * any_value(date_diff('day', cast(reported.start_at as date), cast(reported.end_at - interval 1 microsecond as date)) + 1), 0
    ), 4) as coverage_ratio
from nodes
cross join int_window as reported
left join days on nodes.cluster = days.cluster
group by nodes.cluster
order by nodes.cluster
