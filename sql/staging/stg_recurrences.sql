-- Codes of programs that make their GPU suspect when they come back on it under different jobs, some of them on the same unit only.
-- grain: one row per xid
select
    cast(xid as bigint) as xid,
    cast(n_jobs as integer) as n_jobs,
    cast(window_days as integer) as window_days,
    is_same_unit = 'true' as is_same_unit
from recurrences
