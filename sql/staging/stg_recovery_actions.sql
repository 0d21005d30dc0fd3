-- What each action number of a recovery summary asks for.
-- grain: one row per recovery_action
select
    cast(recovery_action as bigint) as recovery_action,
    action
from recovery_actions
