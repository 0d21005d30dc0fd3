-- Clocks of the window: civil time of the configured zone, and mean solar time of the configured longitude (apparent solar time is
-- within 17 minutes of it). A clock runs evenly between changes; those are found to the quarter of an hour. What is not configured
-- has no clock.
-- grain: one row per clock, from_at
with reported as (
    select
        reported.start_at,
        reported.end_at,
        case when zones.name is not null then parameters.zone end as zone,
        parameters.longitude_deg
    from int_window as reported
    cross join parameters
    left join pg_timezone_names() as zones on parameters.zone = zones.name
    where reported.end_at > reported.start_at
),

days as (
    select unnest(range(date_trunc('day', timezone('UTC', start_at)), timezone('UTC', end_at) + interval 1 day, interval 1 day)) as tick_at
    from reported
),

offsets as (
    select
        days.tick_at,
        reported.zone,
        epoch_us(case when reported.zone is not null then timezone(reported.zone, timezone('UTC', days.tick_at)) end) - epoch_us(days.tick_at)
            as offset_us
    from days
    cross join reported
),

changed as (
    select unnest(generate_series(tick_at, tick_at + interval 1 day, interval 15 minute)) as tick_at, zone
    from (select *, lead(offset_us) over (order by tick_at) as next_us from offsets)
    where next_us != offset_us
),

fine as (
    select tick_at, epoch_us(case when zone is not null then timezone(zone, timezone('UTC', tick_at)) end) - epoch_us(tick_at) as offset_us
    from changed
),

civil as (
    select timezone('UTC', fine.tick_at) as from_at, fine.offset_us
    from (select *, lag(offset_us) over (order by tick_at) as before_us, lag(tick_at) over (order by tick_at) as before_at from fine) as fine
    cross join reported
    where
        fine.before_us != fine.offset_us
        and fine.tick_at - fine.before_at = interval 15 minute
        and timezone('UTC', fine.tick_at) > reported.start_at
        and timezone('UTC', fine.tick_at) < reported.end_at

    union all

    select start_at, epoch_us(case when zone is not null then timezone(zone, start_at) end) - epoch_us(start_at)
    from reported
    where zone is not null
)

select
    'civil' as clock,
    civil.from_at,
    coalesce(lead(civil.from_at) over (order by civil.from_at), reported.end_at) as to_at,
    civil.offset_us
from civil
cross join reported

union all

select 'solar', start_at, end_at, cast(round(longitude_deg / 15 * 3600000000) as bigint)
from reported
where longitude_deg is not null
