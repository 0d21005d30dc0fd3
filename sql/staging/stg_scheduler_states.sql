-- What each state of the scheduler says about an attempt's end.
-- grain: one row per state
select
    state,
    is_closed = 'true' as is_closed,
    ends_as,
    cause
from scheduler_states
