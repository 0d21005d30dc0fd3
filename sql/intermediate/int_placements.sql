-- The best known place of each rank: the library's own line before the job's environment before a launcher's, and what has a node
-- before what has none. Ranks of a communicator are those of the job only in its largest one, and only if no rank beyond it is
-- seen. A rank that is seen in two places is left out.
-- grain: one row per cluster, log_set, rank
with sizes as (
    select
        cluster,
        log_set,
        max(n_ranks) as n_ranks,
        max(rank) as last_rank
    from (
        select
            cluster,
            log_set,
            n_ranks,
            case when source_kind != 'init' then rank end as rank
        from stg_placements
        union all
        select
            cluster,
            log_set,
            null as n_ranks,
            rank
        from stg_nccl_events
    ) as told
    group by cluster, log_set
),

usable as (
    select places.*
    from stg_placements as places
    inner join sizes on places.cluster = sizes.cluster and places.log_set = sizes.log_set
    where
        places.source_kind != 'init'
        or (places.n_ranks = sizes.n_ranks and places.n_ranks > coalesce(sizes.last_rank, -1))
),

found as (
    select
        cluster,
        log_set,
        rank,
        source_kind,
        max(job_id) as job_id,
        max(node) as node,
        max(local_gpu) as local_gpu,
        max(pci_bdf) as pci_bdf,
        min(source_id || ':' || line) as ref
    from usable
    group by cluster, log_set, rank, source_kind
    having count(distinct node) <= 1 and count(distinct local_gpu) <= 1 and count(distinct pci_bdf) <= 1
)

select *
from found
qualify row_number() over (
    partition by cluster, log_set, rank
    order by node is null, list_position(['init', 'environment', 'launcher'], source_kind)
) = 1
