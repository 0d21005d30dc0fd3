-- Verdicts on hangs with their attempt, and the node of each culprit: as its dump says, else as the lines of the same job or folder
-- place the rank, else by the order of the attempt's node list, and then marked as assumed.
-- grain: one row per cluster, dump_set, culprit_rank
with named as (
    select
        verdicts.cluster,
        verdicts.dump_set,
        verdicts.finding,
        verdicts.hang_class,
        verdicts.confidence,
        verdicts.evidence,
        unnest(case when coalesce(len(verdicts.culprits), 0) = 0 then [null::bigint] else verdicts.culprits end) as culprit_rank
    from int_hang_verdicts as verdicts
),

seen as (
    select
        cluster,
        dump_set,
        max(last_created_at) as last_at,
        list_sort(list_distinct(list(source_id || ':1'))) as refs
    from stg_dumps
    group by cluster, dump_set
),

placed as (
    select
        named.cluster,
        named.dump_set,
        named.culprit_rank,
        min(places.node) as node
    from named
    left join int_dump_attempts as belongs on named.cluster = belongs.cluster and named.dump_set = belongs.dump_set
    left join stg_jobs as attempts on belongs.cluster = attempts.cluster and belongs.attempt_id = attempts.attempt_id
    inner join int_placements as places
        on
            named.cluster = places.cluster and named.culprit_rank = places.rank
            and (places.log_set = named.dump_set or places.job_id in (attempts.job_id, attempts.job_id_raw))
    group by named.cluster, named.dump_set, named.culprit_rank
    having count(distinct places.node) = 1
)

select
    named.* exclude (evidence),
    seen.last_at,
    list_slice(coalesce(nullif(named.evidence, []), seen.refs), 1, 16) as refs,
    belongs.attempt_id,
    coalesce(told.node, placed.node, assumed.node) as node,
    told.node is null and placed.node is null and assumed.node is not null as is_node_assumed
from named
left join seen on named.cluster = seen.cluster and named.dump_set = seen.dump_set
left join int_dump_attempts as belongs on named.cluster = belongs.cluster and named.dump_set = belongs.dump_set
left join stg_jobs as attempts on belongs.cluster = attempts.cluster and belongs.attempt_id = attempts.attempt_id
left join stg_dumps as dumps
    on named.cluster = dumps.cluster and named.dump_set = dumps.dump_set and named.culprit_rank = dumps.rank
left join stg_node_keys as told on dumps.node = told.node_as_written
left join placed
    on named.cluster = placed.cluster and named.dump_set = placed.dump_set and named.culprit_rank = placed.culprit_rank
left join stg_node_keys as assumed
    on
        attempts.n_gpus % len(attempts.nodes) = 0
        and assumed.node_as_written = attempts.nodes[1 + named.culprit_rank // greatest(attempts.n_gpus // greatest(len(attempts.nodes), 1), 1)]
