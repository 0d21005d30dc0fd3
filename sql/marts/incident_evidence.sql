-- The evidence of each incident, with the first and last raw line: what `explain` shows.
-- grain: one row per incident_id, evidence_id, ref
with cited as (
    select
        incident_id,
        evidence_id,
        kind,
        code,
        detail,
        role,
        severity,
        case when is_node_known then node end as node,
        device,
        seen_at,
        n_lines,
        text,
        unnest(refs) as ref
    from int_evidence
),

split as (
    select
        *,
        split_part(ref, ':', 1) as source_id,
        cast(split_part(ref, ':', 2) as bigint) as line
    from cited
)

select
    split.incident_id,
    split.evidence_id,
    split.kind,
    split.code,
    split.detail,
    split.role,
    split.severity,
    split.node,
    split.device,
    split.seen_at,
    split.n_lines,
    split.text,
    split.ref,
    sources.name as source_name,
    split.line,
    faults.raw,
    coalesce(verdicts.evidence_id = split.evidence_id, false) as is_decisive
from split
left join stg_sources as sources on split.source_id = sources.source_id
left join stg_gpu_faults as faults on split.source_id = faults.source_id and split.line = faults.line
left join int_verdicts as verdicts on split.incident_id = verdicts.incident_id
order by split.incident_id, split.seen_at, split.evidence_id, split.line
