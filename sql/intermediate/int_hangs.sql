-- Verdicts on hangs with their attempt, and the node of each culprit: as its dump says, else as the lines of the same job or folder
-- place the rank, else by the order of the attempt's node list, and then marked as assumed.
-- grain: one row per cluster, dump_set, culprit_rank
with named as (
    select
        * exclude (culprits),
        unnest(case when coalesce(len(culprits), 0) = 0 then [null::bigint] else culprits end) as culprit_rank
    from int_judged_sets
),

placed as (
    select
        named.cluster,
        named.dump_set,
        named.culprit_rank,
        min(places.node) as node
    from named
    left join stg_jobs as attempts on named.cluster = attempts.cluster and named.attempt_id = attempts.attempt_id
    inner join int_placements as places
        on
            named.cluster = places.cluster and named.culprit_rank = places.rank
            and (places.log_set = named.log_set or places.job_id in (attempts.job_id, attempts.job_id_raw))
    group by named.cluster, named.dump_set, named.culprit_rank
    having count(distinct places.node) = 1
)

select
    named.* exclude (log_set),
    coalesce(told.node, placed.node, assumed.node) as node,
    told.node is null and placed.node is null and assumed.node is not null as is_node_assumed
from named
left join stg_jobs as attempts on named.cluster = attempts.cluster and named.attempt_id = attempts.attempt_id
left join stg_dumps as dumps
    on named.cluster = dumps.cluster and named.dump_set = dumps.dump_set and named.culprit_rank = dumps.rank
left join stg_node_keys as told on dumps.node = told.node_as_written
left join placed
    on named.cluster = placed.cluster and named.dump_set = placed.dump_set and named.culprit_rank = placed.culprit_rank
left join stg_node_keys as assumed
    on
        attempts.n_gpus % len(attempts.nodes) = 0
        and assumed.node_as_written = attempts.nodes[1 + named.culprit_rank // greatest(attempts.n_gpus // greatest(len(attempts.nodes), 1), 1)]
