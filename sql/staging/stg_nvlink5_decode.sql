-- How a line about an NVLink of the fifth generation (144-150) is decoded, one row per layout of its first register, name of
-- the unit, and status (null: any).
-- grain: one row per rule, layout, unit, error_status
with layouts as (
    select *, 'before_r575' as layout, unit_old as units, cast(unit_code_old as bigint) as unit_code from nvlink5_decode
    union all
    select *, 'r575_or_newer' as layout, unit_new as units, cast(unit_code_new as bigint) as unit_code from nvlink5_decode
)

select distinct
    layouts.rule,
    layouts.layout,
    names.unit,
    cast(layouts.xid as bigint) as xid,
    layouts.unit_code,
    cast(layouts.subcode as bigint) as subcode,
    case when words.error_status != 'any' then cast(words.error_status as bigint) end as error_status,
    layouts.action,
    layouts.promoted_action,
    layouts."then" as next_action,
    layouts.severity as rule_severity,
    layouts.origin
from layouts
cross join unnest(string_split(layouts.units, '/')) as names (unit)
cross join unnest(string_split(layouts.error_status, '|')) as words (error_status)
