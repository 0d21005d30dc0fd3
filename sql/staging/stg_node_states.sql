-- Statements about nodes, each once, with what they say about the node's use. Overlapping exports repeat an event of the accounting,
-- open in one and closed in a later: the latest end holds. A reason without a state is of a node out of use (`sinfo -R`); a row
-- with neither says nothing here. Future times, and ends in front of their start, are left out.
-- grain: one row per cluster, node, is_interval, seen_at, state_raw, reason
with keyed as (
    select
        states.* exclude (node, source_id, line),
        keys.node,
        states.source_kind = 'sacctmgr_event' as is_interval,
        states.source_id || ':' || states.line as ref,
        sources.collected_at
    from node_states as states
    inner join stg_sources as sources on states.source_id = sources.source_id
    inner join stg_node_keys as keys on states.node = keys.node_as_written
    where
        states.time_quality not in ('future', 'unknown') and states.seen_at is not null
        and (states.state is not null or states.reason is not null)
        and coalesce(states.ended_at >= states.seen_at, true)
),

latest as (
    select *
    from keyed
    qualify row_number() over (
        partition by cluster, node, is_interval, seen_at, state_raw, reason
        order by ended_at desc nulls last, n_gpus desc nulls last, collected_at desc, ref
    ) = 1
),

said as (
    select
        latest.cluster,
        latest.node,
        latest.is_interval,
        latest.seen_at,
        latest.state_raw,
        latest.reason,
        min_by(words.availability, words.priority) as availability,
        bool_or(words.has_jobs) as has_jobs,
        min(words.availability) filter (where words.word = latest.state) as state_availability
    from latest
    inner join stg_node_state_words as words on latest.state = words.word or list_contains(latest.state_flags, words.word)
    group by all
)

select
    latest.cluster,
    latest.node,
    latest.is_interval,
    latest.source_kind,
    latest.seen_at,
    case
        when said.availability = 'drained' and said.has_jobs then 'draining'
        when latest.state is null then 'out'
        else coalesce(said.availability, 'unknown')
    end as availability,
    latest.state,
    latest.state_flags,
    latest.state_raw,
    latest.reason,
    latest.is_reason_cut,
    latest.reason_by,
    coalesce(latest.reason_at, case when said.state_availability = 'down' then latest.started_at end) as reason_at,
    users.is_scheduler,
    latest.ended_at,
    latest.booted_at,
    latest.n_gpus,
    latest.n_gpus_used,
    latest.ref
from latest
left join said
    on
        latest.cluster = said.cluster and latest.node = said.node and latest.is_interval = said.is_interval
        and latest.seen_at = said.seen_at
        and latest.state_raw is not distinct from said.state_raw and latest.reason is not distinct from said.reason
left join stg_scheduler_users as users on latest.reason_by = users.user_name
