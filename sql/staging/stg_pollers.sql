-- Formats that carry what an agent copied of the kernel's lines, how often the agent looks, how late its own time can be, and which is cited first.
-- grain: one row per format
select
    format,
    cast(poll_interval_s as double) as poll_interval_s,
    cast(lag_s as double) as lag_s,
    cast(preference as integer) as preference
from pollers
