-- Verdicts on hangs and broken jobs, whatever they rest on: sets of dumps, else the lines of a job's output. Each with its attempt: of
-- lines by the job of their path, where their time does not speak against it, and without a time only where just one attempt fits.
-- grain: one row per cluster, dump_set
with dumped as (
    select
        cluster,
        dump_set,
        max(last_created_at) as last_at,
        list_sort(list_distinct(list(source_id || ':1'))) as refs
    from stg_dumps
    group by cluster, dump_set
),

candidates as (
    select
        verdicts.cluster,
        verdicts.log_set,
        attempts.attempt_id,
        attempts.started_at,
        verdicts.last_at is not null as is_timed,
        count(*) over (partition by verdicts.cluster, verdicts.log_set) as n_candidates
    from int_log_verdicts as verdicts
    cross join parameters
    inner join stg_jobs as attempts
        on
            verdicts.cluster = attempts.cluster
            and verdicts.job_id in (attempts.job_id, attempts.job_id_raw)
            and (attempts.started_at is null or verdicts.last_at is null or attempts.started_at <= verdicts.last_at)
            and (
                attempts.ended_at is null or verdicts.last_at is null
                or verdicts.last_at <= attempts.ended_at + to_seconds(parameters.dump_after_end_s)
            )
),

belonging as (
    select cluster, log_set, attempt_id
    from candidates
    where is_timed or n_candidates = 1
    qualify row_number() over (partition by cluster, log_set order by started_at desc nulls last, attempt_id) = 1
)

select
    verdicts.cluster,
    verdicts.dump_set,
    verdicts.dump_set as log_set,
    verdicts.finding,
    verdicts.hang_class,
    verdicts.confidence,
    verdicts.culprits,
    list_slice(coalesce(nullif(verdicts.evidence, []), dumped.refs), 1, 16) as refs,
    dumped.last_at,
    belongs.attempt_id
from int_hang_verdicts as verdicts
left join dumped on verdicts.cluster = dumped.cluster and verdicts.dump_set = dumped.dump_set
left join int_dump_attempts as belongs on verdicts.cluster = belongs.cluster and verdicts.dump_set = belongs.dump_set

union all

select
    verdicts.cluster,
    'lines of ' || verdicts.log_set,
    verdicts.log_set,
    verdicts.finding,
    case when verdicts.hang_class = 'mixed' then 'unknown' else verdicts.hang_class end,
    verdicts.confidence,
    verdicts.culprits,
    list_slice(verdicts.evidence, 1, 16),
    verdicts.last_at,
    belonging.attempt_id
from int_log_verdicts as verdicts
left join belonging on verdicts.cluster = belonging.cluster and verdicts.log_set = belonging.log_set
