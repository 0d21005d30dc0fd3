-- Which rules hold for which evidence: the match columns fit, and each condition finds (or, where absent, does not find) what must
-- stand beside it. A rule takes no derivative, companion or summary evidence unless such a burst has no cause in its incident.
-- grain: one row per incident_id, evidence_id, rule_id
with fitting as (
    select
        evidence.incident_id,
        evidence.evidence_id,
        rules.rule_id
    from int_evidence as evidence
    inner join stg_rules as rules
        on
            evidence.kind = rules.kind
            and (rules.code is null or evidence.code in (select unnest(string_split(rules.code, ';'))))
            and (rules.detail is null or evidence.detail = rules.detail)
    where evidence.role not in ('derivative', 'companion', 'summary')
),

beside as (
    select
        fitting.incident_id,
        fitting.evidence_id,
        conditions.rule_id,
        conditions.condition,
        count(distinct other.evidence_id) as n_found
    from fitting
    inner join stg_rule_conditions as conditions on fitting.rule_id = conditions.rule_id
    inner join int_evidence as evidence
        on fitting.incident_id = evidence.incident_id and fitting.evidence_id = evidence.evidence_id
    left join int_evidence as other
        on
            fitting.incident_id = other.incident_id
            and fitting.evidence_id != other.evidence_id
            and conditions.kind = other.kind
            and (conditions.codes is null or list_contains(conditions.codes, other.code))
            and (conditions.detail is null or conditions.detail = other.detail)
            and case conditions.scope
                when 'device' then evidence.node = other.node and evidence.device = other.device
                when 'peer' then evidence.node = other.node and evidence.device != other.device and 'unknown' not in (evidence.device, other.device)
                when 'node' then evidence.node = other.node
                else true
            end
            and (
                conditions.lag_low_s is null
                or epoch_us(other.seen_at) - epoch_us(evidence.seen_at)
                between conditions.lag_low_s * 1000000 and conditions.lag_high_s * 1000000
            )
    group by all
),

failed as (
    select distinct
        beside.incident_id,
        beside.evidence_id,
        beside.rule_id
    from beside
    inner join stg_rule_conditions as conditions
        on beside.rule_id = conditions.rule_id and beside.condition = conditions.condition
    where (beside.n_found >= conditions.min_count) = conditions.is_absent
)

select
    fitting.incident_id,
    fitting.evidence_id,
    fitting.rule_id
from fitting
anti join failed
    on
        fitting.incident_id = failed.incident_id
        and fitting.evidence_id = failed.evidence_id
        and fitting.rule_id = failed.rule_id
