-- Where ranks run: the library's own lines, the job's environment, and lines that a launcher marks with both the global rank and
-- the host. Left out: addresses of RAS reports.
-- grain: one row per source_id, line
with told as (
    select
        source_id,
        line,
        source_kind,
        rank,
        n_ranks,
        node,
        local_gpu,
        pci_bdf
    from placements
    where time_quality is distinct from 'future'
    union all
    select
        source_id,
        line,
        'launcher' as source_kind,
        rank,
        cast(null as bigint) as n_ranks,
        node,
        local_gpu,
        cast(null as varchar) as pci_bdf
    from nccl_events
    where
        rank is not null
        and host is not null
        and not starts_with(kind, 'ras_')
        and time_quality is distinct from 'future'
)

select
    told.source_id,
    told.line,
    sets.cluster,
    sets.log_set,
    sets.job_id,
    told.source_kind,
    told.rank,
    told.n_ranks,
    keys.node,
    told.local_gpu,
    told.pci_bdf
from told
inner join stg_log_sets as sets on told.source_id = sets.source_id
left join stg_node_keys as keys on told.node = keys.node_as_written
qualify row_number() over (partition by told.source_id, told.line order by told.source_kind) = 1
