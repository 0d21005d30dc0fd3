-- The verdict on each incident: of the rules that hold, the one of the lowest priority number, on its earliest evidence. What other
-- rules would have said stands in alternatives. No verdict on an unknown node is above low.
-- grain: one row per incident_id
with matched as (
    select
        matches.incident_id,
        matches.evidence_id,
        matches.rule_id,
        rules.priority,
        coalesce(rules.component, evidence.component, 'unknown') as component,
        rules.cause,
        case when evidence.is_node_known then rules.confidence else 'low' end as confidence,
        coalesce(rules.action, evidence.action) as action,
        coalesce(rules.severity, evidence.severity) as severity,
        evidence.kind,
        evidence.code,
        evidence.node,
        evidence.device,
        evidence.seen_at
    from int_rule_matches as matches
    inner join stg_rules as rules on matches.rule_id = rules.rule_id
    inner join int_evidence as evidence
        on matches.incident_id = evidence.incident_id and matches.evidence_id = evidence.evidence_id
),

ranked as (
    select
        *,
        row_number() over (partition by incident_id order by priority, seen_at, evidence_id, rule_id) as place,
        first_value(component) over (partition by incident_id order by priority, seen_at, evidence_id, rule_id) as chosen
    from matched
),

others as (
    select
        incident_id,
        list(component || ' (' || rule_id || ')' order by priority, rule_id) as alternatives
    from (
        select distinct on (incident_id, component) incident_id, component, rule_id, priority
        from ranked
        where component not in (chosen, 'unknown')
        order by incident_id, component, priority, rule_id
    )
    group by incident_id
)

select
    ranked.* exclude (place, chosen, severity, seen_at, priority),
    ranked.severity as rule_severity,
    coalesce(others.alternatives, []) as alternatives
from ranked
left join others on ranked.incident_id = others.incident_id
where ranked.place = 1
