-- Formats that carry what an agent copied of the kernel's lines, how often the agent looks, and which is cited first.
-- grain: one row per format
select
    format,
    cast(poll_interval_s as double) as poll_interval_s,
    cast(preference as integer) as preference
from pollers
