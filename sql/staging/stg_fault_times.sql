-- When each fault line was written. A line that knows only the time since boot (dmesg) is placed as late as it can have been: as far
-- before the collection of its log as it stands before the last line of its boot there. Such a time is an estimate that orders
-- lines, and ends no attempt; in a log of several boots there is none.
-- grain: one row per fault_table, source_id, line
with lines as (
    select 'gpu' as fault_table, source_id, line, seen_at, time_quality, monotonic_us from gpu_faults
    union all
    select 'host' as fault_table, source_id, line, seen_at, time_quality, monotonic_us from host_faults
),

clocked as (
    select
        *,
        coalesce(monotonic_us < lag(monotonic_us) over (partition by source_id order by line, fault_table), false) as is_fallen
    from lines
    where seen_at is null and monotonic_us is not null
),

booted as (
    select
        *,
        sum(cast(is_fallen as integer)) over (partition by source_id order by line, fault_table) as boot_nth
    from clocked
),

estimated as (
    select
        booted.fault_table,
        booted.source_id,
        booted.line,
        sources.collected_at - to_microseconds(max(booted.monotonic_us) over (partition by booted.source_id) - booted.monotonic_us) as seen_at
    from booted
    inner join stg_sources as sources on booted.source_id = sources.source_id
    qualify max(booted.boot_nth) over (partition by booted.source_id) = 0
)

select
    lines.fault_table,
    lines.source_id,
    lines.line,
    coalesce(lines.seen_at, estimated.seen_at) as seen_at,
    case when estimated.seen_at is null then lines.time_quality else 'observation' end as time_quality,
    estimated.seen_at is not null as is_time_estimated
from lines
left join estimated
    on lines.fault_table = estimated.fault_table and lines.source_id = estimated.source_id and lines.line = estimated.line
