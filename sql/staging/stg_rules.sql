-- The rules in force. A null match column matches anything; a null component or severity is taken from the evidence.
-- grain: one row per rule_id
select
    rule_id,
    cast(priority as integer) as priority,
    kind,
    code,
    detail,
    component,
    cause,
    confidence,
    action,
    severity
from rules
