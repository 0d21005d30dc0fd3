-- What each kind of host line means, which kind names a burst of several, and the silence that ends a burst.
-- grain: one row per family, kind
select
    family,
    kind,
    component,
    part,
    severity,
    action,
    role,
    cast(naming as integer) as naming,
    cast(gap_s as double) as gap_s
from host_fault_kinds
