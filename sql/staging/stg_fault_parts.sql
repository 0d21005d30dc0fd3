-- What the classes mean under which operators file faults. A class that is not here is of component unknown.
-- grain: one row per level, part
select
    level,
    part,
    component,
    is_failure = 'true' as is_failure,
    severity
from fault_parts
