-- Incidents with their verdict: when, where, what it ended, how severe, planned or not. The severity is the highest of the rule's
-- and of the attempts that failed in it; a planned incident is no failure; an unknown severity is neither counted nor silent.
-- grain: one row per incident_id
with summed as (
    select
        incident_id,
        cluster,
        coalesce(
            min(seen_at) filter (where kind in ('xid', 'sxid', 'host', 'record')),
            min(seen_at) filter (where kind in ('hang', 'node')),
            min(seen_at) filter (where kind = 'attempt')
        ) as started_at,
        coalesce(min(seen_at) filter (where kind = 'attempt'), min(seen_at)) as detected_at,
        bool_or(kind = 'attempt' and severity = 'app') as has_failed_attempt,
        list_sort(list_distinct(list(kind))) as kinds,
        arg_max(recovery_action, (seen_at, recovery_action)) filter (where recovery_action > 0) as recovery_action
    from int_evidence
    group by incident_id, cluster
),

judged as (
    select
        summed.*,
        coalesce(verdicts.component, 'unknown') as component,
        coalesce(verdicts.cause, 'no_rule') as cause,
        coalesce(verdicts.confidence, 'low') as confidence,
        verdicts.rule_id,
        verdicts.evidence_id,
        verdicts.node as verdict_node,
        verdicts.device,
        case when verdicts.component = 'maintenance' then verdicts.action else coalesce(recovery.action, verdicts.action) end as action,
        coalesce(verdicts.alternatives, []) as alternatives,
        coalesce(verdicts.component = 'maintenance', false) as is_planned,
        coalesce(by_rule.severity_rank, 0) as rule_rank
    from summed
    left join int_verdicts as verdicts on summed.incident_id = verdicts.incident_id
    left join stg_severities as by_rule on verdicts.rule_severity = by_rule.severity
    left join stg_recovery_actions as recovery on summed.recovery_action = recovery.recovery_action
),

ranked as (
    select
        judged.* exclude (rule_rank),
        greatest(judged.rule_rank, case when judged.has_failed_attempt then 3 else 0 end) as severity_rank
    from judged
)

select
    ranked.* exclude (severity_rank, has_failed_attempt, recovery_action),
    severities.severity,
    case when ranked.is_planned then false else severities.is_failure end as is_failure,
    case
        when ranked.is_planned then 'planned'
        when ranked.component = 'unknown' then 'unknown'
        else 'classified'
    end as verdict_status,
    devices.device_serial,
    coalesce(devices.device_uuid, case when ranked.device like 'GPU-%' then ranked.device end) as device_uuid,
    case when regexp_full_match(ranked.device, '[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}') then ranked.device end as device_bdf,
    devices.device_id
from ranked
inner join stg_severities as severities on ranked.severity_rank = severities.severity_rank
left join int_inventory as devices
    on
        ranked.cluster = devices.cluster
        and ranked.verdict_node = devices.node
        and ranked.device in (devices.pci_bdf, devices.device_uuid)
        and ranked.started_at >= coalesce(devices.entered_at, ranked.started_at)
        and ranked.started_at < coalesce(devices.removed_at, ranked.started_at + interval 1 second)
qualify row_number() over (
    partition by ranked.incident_id order by devices.entered_at desc nulls last, devices.device_id, devices.device_class
) = 1
