-- The order of severities, and what each means for counting.
-- grain: one row per severity
select
    severity,
    cast(rank as integer) as severity_rank,
    is_failure = 'true' as is_failure,
    ends_attempts = 'true' as ends_attempts
from severities
