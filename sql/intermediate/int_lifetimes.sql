-- The spells of devices, cut at the failures within them: half-open (entry, exit]. Failures of one device at one instant are one end,
-- of the cause of the first incident; one at the very start of a spell ends nothing, since the device is not yet at risk.
-- grain: one row per service_id, exposure_kind, entry_at
with failed as (
    select
        service_id,
        exposure_kind,
        started_at,
        arg_min(component, incident_id) as cause,
        count(*) as n_failures
    from int_cells_failures
    where service_id is not null
    group by service_id, exposure_kind, started_at
),

ends as (
    select
        spells.service_id, spells.exposure_kind, spells.from_at, spells.to_at as spell_to_at, failed.started_at as exit_at, true as event,
        failed.cause, failed.n_failures
    from int_cells_spells as spells
    inner join failed
        on
            spells.service_id = failed.service_id
            and spells.exposure_kind = failed.exposure_kind
            and failed.started_at > spells.from_at
            and failed.started_at < spells.to_at

    union all

    select service_id, exposure_kind, from_at, to_at, to_at, false, null, 0
    from int_cells_spells
)

select
    service_id,
    exposure_kind,
    coalesce(lag(exit_at) over (partition by service_id, exposure_kind, from_at order by exit_at), from_at) as entry_at,
    exit_at,
    event,
    cause,
    n_failures,
    exit_at = spell_to_at as is_end_of_spell
from ends
