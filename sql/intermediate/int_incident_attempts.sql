-- The attempts that each incident ended, with their nodes and what came after them. One that never ran
-- held no GPU, whatever its record says.
-- grain: one row per incident_id, attempt_id
select
    members.incident_id,
    members.cluster,
    attempts.attempt_id,
    attempts.job_id,
    case when attempts.never_ran is not true then attempts.n_gpus end as n_gpus,
    attempts.started_at,
    attempts.ended_at,
    list_sort(list(held.node) filter (where held.node is not null)) as nodes,
    (
        select min(later.started_at)
        from stg_jobs as later
        where
            later.cluster = attempts.cluster
            and later.job_id = attempts.job_id
            and later.attempt_id != attempts.attempt_id
            and later.started_at >= attempts.ended_at
    ) as resumed_at
from int_incident_members as members
inner join stg_jobs as attempts
    on members.cluster = attempts.cluster and members.member_id = attempts.attempt_id and members.member_kind = 'attempt'
left join stg_attempt_nodes as held on attempts.cluster = held.cluster and attempts.attempt_id = held.attempt_id
group by all
