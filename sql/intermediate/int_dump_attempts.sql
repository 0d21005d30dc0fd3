-- The attempt that each set of dumps belongs to: by the job of its path, else by its world size and time where just one attempt
-- of the cluster fits.
-- grain: one row per cluster, dump_set that has an attempt
with sets as (
    select
        cluster,
        dump_set,
        max(job_id) as job_id,
        max(last_created_at) as last_at,
        max(rank) + 1 as n_ranks
    from stg_dumps
    group by cluster, dump_set
),

candidates as (
    select
        sets.cluster,
        sets.dump_set,
        attempts.attempt_id,
        sets.job_id is not null as is_by_path,
        attempts.started_at,
        count(*) over (partition by sets.cluster, sets.dump_set) as n_candidates
    from sets
    cross join parameters
    inner join stg_jobs as attempts
        on
            sets.cluster = attempts.cluster
            and (
                sets.job_id in (attempts.job_id, attempts.job_id_raw)
                or (sets.job_id is null and sets.n_ranks = attempts.n_gpus and sets.last_at >= attempts.started_at)
            )
            and (attempts.started_at is null or sets.last_at is null or attempts.started_at <= sets.last_at)
            and (
                attempts.ended_at is null or sets.last_at is null
                or sets.last_at <= attempts.ended_at + to_seconds(parameters.dump_after_end_s)
            )
)

select
    cluster,
    dump_set,
    attempt_id,
    is_by_path
from candidates
where is_by_path or n_candidates = 1
qualify row_number() over (partition by cluster, dump_set order by started_at desc nulls last, attempt_id) = 1
