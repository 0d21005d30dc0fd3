-- What a set of log lines alone can tell: the order in which findings decide, and the class and confidence of each.
-- grain: one row per finding
select
    finding,
    cast(priority as integer) as priority,
    hang_class,
    confidence,
    summary
from log_findings
