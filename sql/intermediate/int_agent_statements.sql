-- What Kubernetes and its agents say about nodes, at every time that they tell, and what its reason stands for. A condition counts
-- by its status: of the reasons known for it the one told, else what the status means by itself. A status that is seen only when
-- it is looked at (a label) is told once until it changes. What nobody knows is not here.
-- grain: one row per cluster, node, seen_at, condition, source_id, line
with told as (
    select
        cluster,
        node,
        unnest(times) as seen_at,
        time_quality,
        source_id,
        line,
        ref,
        case when event = 'object_condition' then condition end as condition,
        case when event = 'object_condition' then condition_status end as condition_status,
        reason,
        regexp_replace(reason, '[0-9]+', '<n>', 'g') as shape,
        text
    from stg_scheduler_events
    where node is not null and (event = 'cluster_event' or (event in ('object_event', 'object_condition') and object_kind = 'Node'))
),

changed as (
    select *
    from told
    window run as (partition by cluster, node, condition order by seen_at, source_id, line)
    qualify not coalesce(
        time_quality = 'observation' and condition is not null and lag(ref) over run is not null
        and lag(condition_status) over run is not distinct from condition_status
        and lag(reason) over run is not distinct from reason,
        false
    )
),

matched as (
    select changed.*, reasons.* exclude (condition, condition_status, reason, shape), reasons.reason is null as is_general
    from changed
    inner join stg_agent_reasons as reasons
        on
            changed.condition = reasons.condition and changed.condition_status = reasons.condition_status
            and (reasons.reason is null or reasons.shape = changed.shape or ends_with(changed.reason, reasons.ending))

    union all

    select changed.*, reasons.* exclude (condition, condition_status, reason, shape), reasons.condition_status is not null
    from changed
    inner join stg_agent_reasons as reasons on changed.shape = reasons.shape
    where changed.condition is null

    union all

    select changed.*, reasons.* exclude (condition, condition_status, reason, shape), true
    from changed
    inner join stg_agent_reasons as reasons on ends_with(changed.reason, reasons.ending)
    where changed.condition is null
)

select
    * exclude (shape, ending, is_general),
    nullif(regexp_extract(reason, '[0-9]+'), '') as code
from matched
qualify row_number() over (
    partition by cluster, node, seen_at, condition, source_id, line
    order by is_general, condition_status, reason, agent, stands_for, family, kind, text
) = 1
