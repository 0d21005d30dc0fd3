-- Bursts of a program's code whose GPU had the same code under enough different jobs within the window of days.
-- grain: one row per burst_id
with suspects as (
    select
        bursts.burst_id,
        bursts.cluster,
        bursts.node,
        bursts.device,
        bursts.xid,
        bursts.first_at,
        jobs.job_id
    from int_bursts as bursts
    inner join stg_recurrences as known on bursts.xid = known.xid
    inner join stg_attempt_nodes as held on bursts.cluster = held.cluster and bursts.node = held.node
    inner join stg_jobs as jobs
        on
            held.cluster = jobs.cluster
            and held.attempt_id = jobs.attempt_id
            and bursts.first_at between jobs.started_at and jobs.known_until_at
    where bursts.device != 'unknown'
)

select suspects.burst_id
from suspects
inner join stg_recurrences as known on suspects.xid = known.xid
inner join suspects as others
    on
        suspects.cluster = others.cluster
        and suspects.node = others.node
        and suspects.device = others.device
        and suspects.xid = others.xid
        and others.first_at between suspects.first_at - to_days(known.window_days) and suspects.first_at + to_days(known.window_days)
group by suspects.burst_id, known.n_jobs
having count(distinct others.job_id) >= known.n_jobs
