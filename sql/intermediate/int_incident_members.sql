-- Everything that opens or joins an incident, and the incident: members that edges connect are one. Its id is made of the content
-- of its earliest member, so that it stays the same when other logs come in. Dumps none of which can be read
-- are quarantined inputs, no incident.
-- grain: one row per cluster, member
with recursive seeds as (
    select cluster, member, min(first_at) as at_time
    from int_strikes
    where is_seed
    group by all

    union all

    select cluster, member, started_at from int_losses

    union all

    select cluster, 'record:' || record_key, started_at from stg_fault_records

    union all

    select cluster, 'hang:' || dump_set, min(last_at)
    from int_hangs
    where finding not in ('none', 'no_data') and last_at is not null
    group by all

    union all

    select cluster, 'attempt:' || attempt_id, ended_at
    from stg_jobs
    where
        is_closed
        and (
            ends_as = 'failure'
            or exists (
                select 1
                from int_incident_edges as edges
                where edges.cluster = stg_jobs.cluster and edges.other = 'attempt:' || stg_jobs.attempt_id
            )
        )
),

edges as (
    select cluster, member, other from int_incident_edges
    union
    select cluster, other, member from int_incident_edges
),

-- The smallest member that can be reached is the label of a connected component.
labels (cluster, member, label) using key (cluster, member) as (
    select cluster, member, member as label from seeds

    union

    select edges.cluster, edges.other, min(labels.label) as label
    from labels
    inner join edges on labels.cluster = edges.cluster and labels.member = edges.member
    inner join recurring.labels as known on edges.cluster = known.cluster and edges.other = known.member
    where labels.label < known.label
    group by edges.cluster, edges.other
),

named as (
    select
        seeds.*,
        labels.label,
        first_value(seeds.member) over (
            partition by seeds.cluster, labels.label order by seeds.at_time nulls last, seeds.member
        ) as earliest
    from seeds
    inner join labels on seeds.cluster = labels.cluster and seeds.member = labels.member
)

select
    cluster,
    'inc-' || left(sha256(cluster || '|' || earliest), 12) as incident_id,
    member,
    split_part(member, ':', 1) as member_kind,
    substr(member, instr(member, ':') + 1) as member_id,
    at_time
from named
