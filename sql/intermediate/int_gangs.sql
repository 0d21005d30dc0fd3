-- Attempts of one gang (the pods of a job) that failed or were stopped together: none later than gang_window_s after the one
-- before, none of a run that began after that. The first end is the cause of the others: a lost node's pods are given up only after
-- the scheduler's timeout, a program that was killed comes after another of the same second. Where the first was stopped, what
-- fails after it is no failure. The node is that of an attempt on one alone. The hub is the first that failed; without a failure there is no row.
-- grain: one row per cluster, attempt_id
with ended as (
    select
        jobs.cluster,
        jobs.gang_id,
        jobs.attempt_id,
        keys.node,
        jobs.ends_as,
        jobs.ended_at,
        (
            jobs.ended_at - to_seconds(case when jobs.ends_cause = 'node_fail' then parameters.slurmd_timeout_s else 0 end),
            jobs.ends_cause = 'job_exit' and coalesce(jobs.exit_signal in (9, 15) or jobs.exit_code in (137, 143), false),
            jobs.ended_at,
            jobs.attempt_id
        ) as place,
        coalesce(
            jobs.ended_at - lag(jobs.ended_at) over gang <= to_seconds(parameters.gang_window_s)
            and not coalesce(jobs.started_at >= lag(jobs.ended_at) over gang, false),
            false
        ) as continues
    from stg_jobs as jobs
    cross join parameters
    left join stg_node_keys as keys on len(jobs.nodes) = 1 and jobs.nodes[1] = keys.node_as_written
    where jobs.gang_id is not null and jobs.is_closed and jobs.ends_as in ('failure', 'stopped')
    window gang as (partition by jobs.cluster, jobs.gang_id order by jobs.ended_at, jobs.attempt_id)
),

numbered as (
    select
        *,
        sum(cast(not continues as integer)) over (partition by cluster, gang_id order by ended_at, attempt_id) as episode
    from ended
),

episodes as (
    select
        cluster,
        gang_id,
        episode,
        arg_min(attempt_id, place) filter (where ends_as = 'failure') as hub_attempt_id,
        arg_min(attempt_id, place) as first_attempt_id,
        arg_min(ends_as, place) as first_ends_as,
        count(*) as n_attempts
    from numbered
    group by cluster, gang_id, episode
    having bool_or(ends_as = 'failure')
)

select
    numbered.cluster,
    numbered.attempt_id,
    numbered.gang_id,
    numbered.node,
    episodes.hub_attempt_id,
    episodes.first_attempt_id,
    numbered.attempt_id = episodes.first_attempt_id as is_first,
    numbered.ends_as = 'failure' and episodes.first_ends_as = 'failure' as is_failure,
    episodes.n_attempts
from numbered
inner join episodes
    on numbered.cluster = episodes.cluster and numbered.gang_id = episodes.gang_id and numbered.episode = episodes.episode
