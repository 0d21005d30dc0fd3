-- Bursts of a program's code whose GPU had the same code under enough different jobs within the window of days. Where it must be the
-- same unit, each of them must name that one alone: a wrong program fails all over the GPU.
-- grain: one row per burst_id
with units as (
    select bursts.burst_id, any_value(faults.unit) as unit
    from int_bursts as bursts
    inner join stg_gpu_faults as faults
        on
            bursts.cluster = faults.cluster
            and bursts.node = faults.node
            and bursts.device = faults.device
            and bursts.xid = faults.xid
            and faults.seen_at between bursts.first_at and bursts.last_at
    group by bursts.burst_id
    having count(distinct faults.unit) = 1
),

suspects as (
    select
        bursts.burst_id,
        bursts.cluster,
        bursts.node,
        bursts.device,
        bursts.xid,
        bursts.first_at,
        jobs.job_id,
        case when known.is_same_unit then units.unit else '' end as unit
    from int_bursts as bursts
    inner join stg_recurrences as known on bursts.xid = known.xid
    inner join stg_attempt_nodes as held on bursts.cluster = held.cluster and bursts.node = held.node
    inner join stg_jobs as jobs
        on
            held.cluster = jobs.cluster
            and held.attempt_id = jobs.attempt_id
            and bursts.first_at between jobs.started_at and jobs.known_until_at
    left join units on bursts.burst_id = units.burst_id
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
        and suspects.unit = others.unit
        and others.first_at between suspects.first_at - to_days(known.window_days) and suspects.first_at + to_days(known.window_days)
group by suspects.burst_id, known.n_jobs
having count(distinct others.job_id) >= known.n_jobs
