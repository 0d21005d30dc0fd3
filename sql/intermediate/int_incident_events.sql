-- What happened in each incident: its bursts, the ends of its attempts, the verdicts on its hangs, and what its hosts tell.
-- grain: one row per incident_id, evidence_id
with bursts as (
    select
        members.incident_id,
        members.cluster,
        'burst:' || families.burst_id as evidence_id,
        case when families.sxid is null then 'xid' else 'sxid' end as kind,
        cast(coalesce(families.xid, families.sxid) as varchar) as code,
        coalesce(
            families.memory_site,
            case when families.caused_by_xid is not null then 'caused_by' end,
            case when repeated.burst_id is not null then 'under_other_jobs_too' end,
            case when families.component = 'unknown' then 'not_in_catalogue' end
        ) as detail,
        families.family_role as role,
        families.severity,
        families.component,
        families.action,
        families.node,
        families.is_node_known,
        families.device,
        null::varchar as attempt_id,
        families.first_at as seen_at,
        families.n_lines,
        families.text,
        families.recovery_action,
        families.refs
    from int_incident_members as members
    inner join int_burst_families as families
        on members.cluster = families.cluster and members.member_id = families.root_id and members.member_kind = 'burst'
    left join int_recurrences as repeated on families.burst_id = repeated.burst_id
),

attempts as (
    select
        members.incident_id,
        members.cluster,
        members.member as evidence_id,
        'attempt' as kind,
        jobs.state as code,
        jobs.ends_cause as detail,
        case when gangs.is_first or gangs.attempt_id is null then 'end' else 'derivative' end as role,
        case when coalesce(gangs.is_failure, jobs.ends_as = 'failure') and jobs.never_ran is not true then 'app' else 'info' end as severity,
        null::varchar as component,
        null::varchar as action,
        coalesce(jobs.failed_node, told.node, gangs.node) as node,
        true as is_node_known,
        null::varchar as device,
        jobs.attempt_id,
        jobs.ended_at as seen_at,
        1 as n_lines,
        concat_ws(' ', 'job', jobs.job_id, jobs.state, 'exit', coalesce(jobs.exit_code || ':' || jobs.exit_signal, 'unknown')) as text,
        null::bigint as recovery_action,
        list_concat([jobs.source_id || ':' || jobs.line], coalesce(told.refs, [])) as refs
    from int_incident_members as members
    inner join stg_jobs as jobs
        on members.cluster = jobs.cluster and members.member_id = jobs.attempt_id and members.member_kind = 'attempt'
    left join int_told_nodes as told on jobs.cluster = told.cluster and jobs.attempt_id = told.attempt_id
    left join int_gangs as gangs on jobs.cluster = gangs.cluster and jobs.attempt_id = gangs.attempt_id
),

hangs as (
    select
        members.incident_id,
        members.cluster,
        concat_ws(':', members.member, coalesce(hangs.culprit_rank, -1)) as evidence_id,
        'hang' as kind,
        hangs.finding as code,
        hangs.hang_class as detail,
        'verdict' as role,
        'app' as severity,
        null::varchar as component,
        null::varchar as action,
        hangs.node,
        hangs.node is not null as is_node_known,
        null::varchar as device,
        hangs.attempt_id,
        hangs.last_at as seen_at,
        1 as n_lines,
        concat_ws(' ', 'rank', coalesce(cast(hangs.culprit_rank as varchar), 'unknown'), hangs.finding, case when hangs.is_node_assumed then '(node assumed from the node list)' end) as text,
        null::bigint as recovery_action,
        hangs.refs
    from int_incident_members as members
    inner join int_hangs as hangs
        on members.cluster = hangs.cluster and members.member_id = hangs.dump_set and members.member_kind = 'hang'
)

select * from bursts
union all
select * from attempts
union all
select * from hangs
union all
select * from int_incident_host_events
