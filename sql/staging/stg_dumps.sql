-- Flight-recorder dumps that have a rank, each rank of a set once: the later one where a rank was dumped twice, and one that was
-- cut off only where there is no other. Layouts before 2.1 give process groups no name.
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
    coalesce(list_contains(flags, 'recorder_off'), false) as is_recorder_off,
    coalesce(list_contains(flags, 'truncated_pickle'), false) as is_cut,
    case
        when version = 'list' then 'none'
        when version in ('1.4', '1.5', '2.0') then 'configured'
        else 'named'
    end as naming
from dumps
where rank is not null
qualify row_number() over (
    partition by cluster, dump_set, rank
    order by is_cut, last_created_at desc nulls last, n_entries desc, source_id
) = 1
