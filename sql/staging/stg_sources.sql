-- Live sources: what each is called and when it was collected.
-- grain: one row per source_id
select
    source_id,
    cluster,
    name,
    format,
    status,
    reason,
    collected_at,
    n_bytes
from sources
