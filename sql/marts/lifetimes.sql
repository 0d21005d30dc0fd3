-- Life of each device in each of its slots within the window, from entry to failure, removal, a day without logs, or the window's
-- end, after which it may go on: what models of lifetimes read. Hours are the age of the device; where it is not known when it was
-- new (age_known) they count from its first hour in the window. calendar_entry_h and calendar_exit_h count from the window's start.
-- grain: one row per population, exposure_class, exposure_kind, unit, node, slot, entry_at
with lives as (
    select
        service.cluster as population,
        service.exposure_class,
        lives.exposure_kind,
        service.cluster || ':' || service.device_id as unit,
        service.node, service.slot, service.rack, service.vendor, service.lot, service.part_number, service.model, service.firmware,
        service.new_at,
        lives.entry_at, lives.exit_at, lives.event, lives.cause, lives.n_failures,
        lives.is_end_of_spell and lives.exit_at = service.to_at as is_end_of_service,
        min(lives.entry_at) over unit_lives as first_entry_at,
        max(lives.exit_at) over unit_lives as last_exit_at,
        cast(coalesce(sum(lives.n_failures) over before, 0) as bigint) as n_failures_before,
        max(case when lives.event then lives.exit_at end) over before as last_failure_at
    from int_lifetimes as lives
    inner join int_cells_service as service on lives.service_id = service.service_id
    window
        unit_lives as (partition by service.cluster, service.exposure_class, service.device_id, lives.exposure_kind),
        before as (
            partition by service.cluster, service.exposure_class, service.device_id, lives.exposure_kind
            order by lives.exit_at, lives.entry_at, lives.service_id rows between unbounded preceding and 1 preceding
        )
)

select
    lives.population,
    lives.exposure_class,
    lives.exposure_kind,
    lives.unit,
    (epoch_us(lives.entry_at) - epoch_us(coalesce(lives.new_at, lives.first_entry_at))) / 3600000000.0 as entry_h,
    (epoch_us(lives.exit_at) - epoch_us(coalesce(lives.new_at, lives.first_entry_at))) / 3600000000.0 as exit_h,
    lives.event,
    lives.cause,
    lives.new_at is not null as age_known,
    case
        when lives.event then 'failed'
        when lives.exit_at = reported.end_at then 'window_end'
        when not lives.is_end_of_service then 'not_observed'
        when lives.exit_at < lives.last_exit_at then 'moved'
        else 'removed'
    end as exit_kind,
    lives.node, lives.slot, lives.rack, lives.vendor, lives.lot, lives.part_number, lives.model, lives.firmware,
    lives.entry_at,
    lives.exit_at,
    (epoch_us(lives.entry_at) - epoch_us(reported.start_at)) / 3600000000.0 as calendar_entry_h,
    (epoch_us(lives.exit_at) - epoch_us(reported.start_at)) / 3600000000.0 as calendar_exit_h,
    cast(lives.n_failures as bigint) as n_failures,
    lives.n_failures_before,
    (epoch_us(lives.exit_at) - epoch_us(lives.last_failure_at)) / 3600000000.0 as since_last_failure_h
from lives
cross join int_window as reported
order by lives.population, lives.exposure_class, lives.exposure_kind, lives.unit, lives.entry_at, lives.node, lives.slot
