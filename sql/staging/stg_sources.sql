-- Live sources: what each is called, when it was collected, and where its records went.
-- grain: one row per source_id
select
    source_id,
    cluster,
    name,
    format,
    status,
    reason,
    collected_at,
    n_bytes,
    n_read,
    n_kept,
    n_rejected,
    n_out_of_scope
from sources
