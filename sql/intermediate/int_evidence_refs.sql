-- The records that the evidence of an incident cites, each once, in order of time.
-- grain: one row per incident_id, ref
with cited as (
    select
        incident_id,
        kind,
        seen_at,
        unnest(refs) as ref
    from int_evidence
)

select
    incident_id,
    ref,
    bool_or(kind = 'xid') as is_kernel,
    min(seen_at) as seen_at
from cited
group by incident_id, ref
