-- Flight-recorder dumps that have a rank, each rank of a set once: the later one where a rank was dumped twice.
-- grain: one row per cluster, dump_set, rank
select
    cluster,
    dump_set,
    rank,
    source_id,
    seen_at,
    host,
    node,
    job_id,
    version,
    comm_lib_version,
    n_entries,
    n_groups,
    first_created_at,
    last_created_at,
    flags,
    coalesce(list_contains(flags, 'recorder_off'), false) as is_recorder_off
from dumps
where rank is not null
qualify row_number() over (
    partition by cluster, dump_set, rank
    order by last_created_at desc nulls last, n_entries desc, source_id
) = 1
