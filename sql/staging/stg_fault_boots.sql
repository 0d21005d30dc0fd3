-- The boot of each fault line. Where its log names boots, that one. Else the boot that another log of the node names nearest in
-- time. Else, where a clock since boot fell, the boot that then began: the same for all logs of the node.
-- grain: one row per fault_table, source_id, line
with written as (
    select 'gpu' as fault_table, source_id, line, cluster, node, boot_id, monotonic_us from gpu_faults
    union all
    select 'host' as fault_table, source_id, line, cluster, node, boot_id, monotonic_us from host_faults
),

lines as (
    select
        written.*,
        times.seen_at
    from written
    inner join stg_fault_times as times
        on written.fault_table = times.fault_table and written.source_id = times.source_id and written.line = times.line
),

placed as (
    select
        lines.* exclude (node),
        coalesce(keys.node, 'source:' || lines.source_id) as node,
        bool_or(lines.boot_id is not null) over (partition by lines.source_id) as names_boots,
        lag(lines.monotonic_us) over (
            partition by lines.source_id, keys.node, lines.monotonic_us is null order by lines.line, lines.fault_table
        ) as monotonic_before_us
    from lines
    left join stg_node_keys as keys on lines.node = keys.node_as_written
    where lines.seen_at is not null
),

begun as (
    select distinct
        placed.cluster,
        placed.node,
        placed.seen_at - to_microseconds(placed.monotonic_us) as booted_at
    from placed
    cross join parameters
    where
        not placed.names_boots
        and placed.monotonic_us < placed.monotonic_before_us - parameters.burst_gap_s * 1000000
),

told as (
    select begun.*
    from begun
    cross join parameters
    qualify coalesce(
        epoch_us(begun.booted_at) - lag(epoch_us(begun.booted_at)) over (partition by begun.cluster, begun.node order by begun.booted_at)
        > parameters.burst_gap_s * 1000000, true
    )
),

neighbours as (
    select
        placed.*,
        told.booted_at,
        last_value(case when placed.boot_id is not null then placed.seen_at end ignore nulls) over earlier as earlier_at,
        last_value(placed.boot_id ignore nulls) over earlier as earlier_boot,
        first_value(case when placed.boot_id is not null then placed.seen_at end ignore nulls) over later as later_at,
        first_value(placed.boot_id ignore nulls) over later as later_boot
    from placed
    asof left join told
        on placed.cluster = told.cluster and placed.node = told.node and placed.seen_at >= told.booted_at
    window
        earlier as (
            partition by placed.cluster, placed.node order by placed.seen_at, placed.source_id, placed.line, placed.fault_table
            rows between unbounded preceding and current row
        ),
        later as (
            partition by placed.cluster, placed.node order by placed.seen_at, placed.source_id, placed.line, placed.fault_table
            rows between current row and unbounded following
        )
)

select
    fault_table,
    source_id,
    line,
    case
        when names_boots then boot_id
        when later_boot is null and earlier_boot is null then 'since ' || strftime(booted_at, '%Y-%m-%dT%H:%M:%S')
        when later_boot is null or seen_at - earlier_at < later_at - seen_at then earlier_boot
        else later_boot
    end as boot_id
from neighbours
