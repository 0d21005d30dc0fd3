-- The set of lines that each source belongs to: its job's (of the configured path, or of the scheduler's own file name), else
-- its folder's. `bathtub hang` puts one set in its place.
-- grain: one row per source_id
with told as (
    select
        source_id,
        job_id
    from nccl_events
    union
    select
        source_id,
        job_id
    from placements
    union
    select
        source_id,
        job_id
    from collective_speeds
),

named as (
    select
        sources.source_id,
        sources.cluster,
        sources.name,
        coalesce(max(told.job_id), nullif(regexp_extract(sources.name, '(?:^|/)slurm-([0-9]+(?:_[0-9]+)?)\.(?:out|err)$', 1), '')) as job_id
    from stg_sources as sources
    inner join told on sources.source_id = told.source_id
    group by sources.source_id, sources.cluster, sources.name
)

select
    source_id,
    cluster,
    job_id,
    coalesce('job ' || job_id, nullif(regexp_extract(name, '^(.*)/[^/]*$', 1), ''), '.') as log_set
from named
