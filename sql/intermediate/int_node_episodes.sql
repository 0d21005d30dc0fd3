-- Episodes of nodes out of use, out of the daemons' log, the accounting's events and the snapshots: statements that overlap or touch
-- are one episode. What names it is the gravest kind within the detection lag of its start; who began it stands apart, since a node
-- that people drained can die meanwhile (down_at). `possible_from_at` is how early a loss can have happened before it was noticed.
-- grain: one row per cluster, node, started_at
with statements as (
    select
        cluster, node, kind, started_at, ended_at, detected_at, down_at, booted_at, reason, null::varchar as reason_by, refs
    from int_node_spells

    union all

    select
        cluster,
        node,
        case
            when availability in ('down', 'maintenance', 'rebooting') then availability
            when reason_by is null then 'drain'
            when is_scheduler then 'drain_by_scheduler'
            else 'drain_by_person'
        end,
        started_at,
        ended_at,
        started_at,
        case when availability = 'down' then started_at end,
        null,
        reason,
        reason_by,
        refs
    from int_node_states
    where is_out
),

marked as (
    select
        statements.*,
        kinds.priority,
        kinds.is_loss,
        kinds.is_by_person or (statements.reason_by is not null and not coalesce(users.is_scheduler, false)) as is_by_person,
        max(coalesce(statements.ended_at, 'infinity'::timestamptz)) over (
            partition by statements.cluster, statements.node
            order by statements.started_at, statements.ended_at nulls last, kinds.priority, statements.refs
            rows between unbounded preceding and 1 preceding
        ) as open_until
    from statements
    inner join stg_node_episode_kinds as kinds on statements.kind = kinds.kind
    left join stg_scheduler_users as users on statements.reason_by = users.user_name
),

numbered as (
    select
        *,
        sum(case when started_at <= open_until then 0 else 1 end) over (
            partition by cluster, node order by started_at, ended_at nulls last, priority, refs
        ) as episode_nth
    from marked
),

placed as (
    select
        *,
        min(started_at) over (partition by cluster, node, episode_nth) as first_at
    from numbered
)

select
    placed.cluster,
    placed.node,
    arg_min(placed.kind, (placed.priority, placed.started_at))
        filter (where placed.started_at <= placed.first_at + to_seconds(parameters.slurmd_timeout_s)) as kind,
    min(placed.started_at) as started_at,
    case when bool_and(placed.ended_at is not null) then max(placed.ended_at) end as ended_at,
    min(placed.detected_at) as detected_at,
    min(placed.down_at) as down_at,
    min(placed.booted_at) as booted_at,
    min(least(placed.started_at, placed.booted_at)) - to_seconds(case
        when bool_or(placed.is_loss) filter (where placed.started_at <= placed.first_at + to_seconds(parameters.slurmd_timeout_s))
            then parameters.slurmd_timeout_s else 0
    end) as possible_from_at,
    arg_min(placed.reason, (placed.started_at, placed.priority, placed.refs)) filter (where placed.reason is not null) as reason,
    arg_min(placed.reason_by, (placed.started_at, placed.priority, placed.refs)) filter (where placed.reason_by is not null) as reason_by,
    arg_min(placed.is_by_person, (placed.started_at, placed.priority, placed.refs)) as is_planned_by_person,
    list_sort(list_distinct(list(placed.kind))) as kinds,
    cast(count(*) as bigint) as n_statements,
    list_sort(list_distinct(flatten(list(placed.refs)))) as refs
from placed
cross join parameters
group by placed.cluster, placed.node, placed.episode_nth, parameters.slurmd_timeout_s
