-- What the reasons of Kubernetes and of its node agents stand for. `<n>` in a reason is a number, `<name>` in front any name; a row
-- without a reason is for every other reason of its condition and status. `shape` is what a reason is with numbers as `<n>`.
-- grain: one row per condition, condition_status, reason
select
    agent,
    condition,
    condition_status,
    reason,
    regexp_replace(reason, '[0-9]+', '<n>', 'g') as shape,
    case when starts_with(reason, '<name>') then substr(reason, 7) end as ending,
    default_severity,
    stands_for,
    family,
    kind
from agent_reasons
