-- When the failures happened, by each clock.
-- grain: one row per incident_id, exposure_kind, clock
select
    failures.incident_id,
    failures.exposure_kind,
    failures.cluster,
    failures.component,
    clocks.clock,
    hour(make_timestamp(epoch_us(failures.started_at) + clocks.offset_us)) as hour,
    isodow(make_timestamp(epoch_us(failures.started_at) + clocks.offset_us)) as weekday,
    strftime(make_timestamp(epoch_us(failures.started_at) + clocks.offset_us), '%Y-%m') as month
from int_failures as failures
inner join int_cells_clocks as clocks on failures.started_at >= clocks.from_at and failures.started_at < clocks.to_at
where failures.is_exposed
