-- How complete the inspector's records are: it drops some silently, so that a missing number is no slow rank. Collectives of a kind
-- are numbered without gaps.
-- grain: one row per cluster, comm_id, rank, op
select
    cluster,
    comm_id,
    rank,
    op,
    min(node) as node,
    count(*) as n_records,
    max(seq) - min(seq) + 1 as n_numbered,
    count(*) / (max(seq) - min(seq) + 1) as recorded_ratio
from stg_collective_speeds
group by cluster, comm_id, rank, op
