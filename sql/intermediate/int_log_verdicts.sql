-- The verdict on each set of lines, from lines alone: the finding of the lowest priority decides. Several roots of different classes
-- are `several` and name nobody. Ranks of a communicator (RAS) are suspects at most; a waiter, a cascade and the launcher's root
-- cause are nobody. Columns are those of int_hang_verdicts, with log_set in place of dump_set.
-- grain: one row per cluster, log_set
with ranked as (
    select
        found.cluster,
        found.log_set,
        found.finding,
        found.rank,
        found.ref,
        coalesce(found.hang_class, kinds.hang_class) as hang_class,
        kinds.priority,
        kinds.confidence,
        kinds.summary,
        min(kinds.priority) over (partition by found.cluster, found.log_set) as decisive
    from int_log_findings as found
    inner join stg_log_findings as kinds on found.finding = kinds.finding
),

judged as (
    select
        cluster,
        log_set,
        min_by(finding, priority) as finding,
        coalesce(max(hang_class) filter (where priority = decisive and hang_class != 'unknown'), 'unknown') as hang_class,
        min_by(confidence, priority) as confidence,
        min_by(summary, priority) as summary,
        count(distinct hang_class) filter (where priority <= 40 and hang_class != 'unknown') > 1 as is_mixed,
        coalesce(list(distinct rank) filter (where priority = decisive and priority < 90 and rank is not null), []) as culprits,
        coalesce(list(distinct rank) filter (where (priority < 90 or finding = 'ras_lag') and rank is not null), []) as named,
        coalesce(list(distinct rank) filter (where finding = 'ras_missing' and rank is not null), []) as missing
    from ranked
    group by cluster, log_set
),

cited as (
    select
        cluster,
        log_set,
        list(ref order by priority, split_part(ref, ':', 1), try_cast(split_part(ref, ':', 2) as bigint), ref) as refs
    from (
        select cluster, log_set, ref, min(priority) as priority
        from ranked
        group by cluster, log_set, ref
    ) as lines
    group by cluster, log_set
),

places as (
    select
        cluster,
        log_set,
        finding,
        min(pg_name) as pg_name,
        min(seq) as seq
    from int_log_hangs
    group by cluster, log_set, finding
),

times as (
    select
        cluster,
        log_set,
        max(job_id) as job_id,
        min(seen_at) as first_at,
        max(seen_at) as last_at
    from stg_nccl_events
    group by cluster, log_set
)

select
    judged.cluster,
    judged.log_set,
    times.job_id,
    case when judged.is_mixed then 'several' else judged.finding end as finding,
    case when judged.is_mixed then 'mixed' else judged.hang_class end as hang_class,
    case when judged.is_mixed then [] else list_sort(judged.culprits) end as culprits,
    list_sort(
        list_filter(judged.named, lambda rank: judged.is_mixed or not list_contains(judged.culprits, rank))
    ) as suspects,
    list_sort(judged.missing) as missing,
    case when judged.is_mixed then 'low' else judged.confidence end as confidence,
    nullif(places.pg_name, '') as pg_name,
    places.seq,
    list_slice(cited.refs, 1, 16) as evidence,
    case when judged.is_mixed then 'errors of several kinds; which came first cannot be told' else judged.summary end
    || coalesce(': rank ' || nullif(array_to_string(case when not judged.is_mixed then list_sort(judged.culprits) end, ', '), ''), '')
    || coalesce('; operation ' || places.seq, '') as summary,
    times.first_at,
    times.last_at
from judged
left join cited on judged.cluster = cited.cluster and judged.log_set = cited.log_set
left join times on judged.cluster = times.cluster and judged.log_set = times.log_set
left join places
    on
        judged.cluster = places.cluster and judged.log_set = places.log_set
        and judged.finding = places.finding and not judged.is_mixed
