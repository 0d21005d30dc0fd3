-- Names under which reasons are set, and whether the scheduler itself stands behind them.
-- grain: one row per user_name
select
    user_name,
    is_scheduler = 'true' as is_scheduler
from scheduler_users
