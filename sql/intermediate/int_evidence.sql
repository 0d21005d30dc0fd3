-- The evidence of each incident, one relation that all rules look at: what happened in it, and maintenance windows.
-- A maintenance window counts on the node where the incident is: of its bursts, else of the node that the scheduler or the hang
-- names, else of its attempts.
-- grain: one row per incident_id, evidence_id
with places as (
    select distinct incident_id, cluster, node, seen_at, case when kind in ('xid', 'sxid', 'host') then 1 else 2 end as preference
    from int_incident_events
    where node is not null

    union

    select events.incident_id, events.cluster, held.node, events.seen_at, 3 as preference
    from int_incident_events as events
    inner join stg_attempt_nodes as held on events.cluster = held.cluster and events.attempt_id = held.attempt_id
    where events.kind = 'attempt'
),

windows as (
    select distinct
        places.incident_id,
        places.cluster,
        concat_ws(':', 'maintenance', places.node, planned.ref) as evidence_id,
        'maintenance' as kind,
        'window' as code,
        planned.reason as detail,
        'planned' as role,
        'info' as severity,
        null::varchar as component,
        null::varchar as action,
        places.node,
        true as is_node_known,
        null::varchar as device,
        null::varchar as attempt_id,
        planned.started_at as seen_at,
        1 as n_lines,
        planned.reason as text,
        null::bigint as recovery_action,
        [planned.ref] as refs
    from (select * from places qualify preference = min(preference) over (partition by incident_id)) as places
    inner join stg_maintenance as planned
        on
            places.cluster = planned.cluster
            and places.node = planned.node
            and places.seen_at between planned.started_at and planned.ended_at
)

select * from int_incident_events
union all
select * from windows
