-- Codes of programs that make their GPU suspect when they come back on it under different jobs.
-- grain: one row per xid
select
    cast(xid as bigint) as xid,
    cast(n_jobs as integer) as n_jobs,
    cast(window_days as integer) as window_days
from recurrences
