-- Exposure by hour of the day and weekday of each clock, and by month (hour and weekday are null there). Devices come and go at
-- instants: an hour's exposure is what was there at its start for all of it, and what came within it for the rest. Days on which
-- nothing came or went are not spelled out by the hour.
-- grain: one row per cluster, exposure_class, exposure_kind, clock, hour, weekday, month
with spans as (
    select cluster, exposure_class, exposure_kind, from_at, to_at, sum(n_devices) as n_devices
    from int_cells_pieces
    group by cluster, exposure_class, exposure_kind, from_at, to_at
),

clipped as (
    select
        spans.cluster, spans.exposure_class, spans.exposure_kind, clocks.clock, clocks.from_at as since_at, spans.n_devices,
        epoch_us(greatest(spans.from_at, clocks.from_at)) + clocks.offset_us as from_us,
        epoch_us(least(spans.to_at, clocks.to_at)) + clocks.offset_us as to_us
    from spans
    inner join int_cells_clocks as clocks on spans.from_at < clocks.to_at and spans.to_at > clocks.from_at
),

grouped as (
    select
        dense_rank() over (order by cluster, exposure_class, exposure_kind, clock, since_at) as span_group,
        *
    from clipped
),

steps as (
    select span_group, make_timestamp(from_us) as step_at, n_devices from grouped
    union all
    select span_group, make_timestamp(to_us), -n_devices from grouped
),

hours as (
    select
        span_group,
        date_trunc('hour', step_at) as hour_at,
        sum(n_devices) as n_devices,
        sum(n_devices * (3600000000 + epoch_us(date_trunc('hour', step_at)) - epoch_us(step_at))) as device_us
    from steps
    group by span_group, date_trunc('hour', step_at)
),

days as (
    select
        span_group,
        day,
        lead(day) over (partition by span_group order by day) as next_day,
        sum(n_devices) over (partition by span_group order by day) as n_devices
    from (select span_group, date_trunc('day', hour_at) as day, sum(n_devices) as n_devices from hours group by all)
),

busy as (
    select told.span_group, told.hour_at, hours.device_us, hours.n_devices
    from (select span_group, unnest(range(day, day + interval 1 day, interval 1 hour)) as hour_at from days) as told
    left join hours on told.span_group = hours.span_group and told.hour_at = hours.hour_at
),

quiet as (
    select span_group, n_devices * 3600000000 as device_us, unnest(range(day + interval 1 day, next_day, interval 1 day)) as day
    from days
    where n_devices > 0 and next_day is not null
),

spelled as (
    select
        span_group, hour_at,
        coalesce(device_us, 0) + 3600000000 * coalesce(sum(n_devices) over (
            partition by span_group order by hour_at rows between unbounded preceding and 1 preceding
        ), 0) as device_us
    from busy
),

counted as (
    select span_group, hour(hour_at) as hour, isodow(hour_at) as weekday, null as month, sum(device_us) as device_us
    from spelled
    group by all
    union all
    select by_weekday.span_group, hours_of_a_day.hour, by_weekday.weekday, null, by_weekday.device_us
    from (select span_group, isodow(day) as weekday, sum(device_us) as device_us from quiet group by all) as by_weekday
    cross join (select unnest(range(24)) as hour) as hours_of_a_day
    union all
    select span_group, null, null, strftime(date_trunc('month', hour_at), '%Y-%m'), sum(device_us)
    from spelled
    group by span_group, date_trunc('month', hour_at)
    union all
    select span_group, null, null, strftime(date_trunc('month', day), '%Y-%m'), 24 * sum(device_us)
    from quiet
    group by span_group, date_trunc('month', day)
)

select
    named.cluster, named.exposure_class, named.exposure_kind, named.clock, counted.hour, counted.weekday, counted.month,
    sum(counted.device_us) as device_us
from counted
inner join (select distinct span_group, cluster, exposure_class, exposure_kind, clock from grouped) as named
    on counted.span_group = named.span_group
group by all
having sum(counted.device_us) > 0
