-- When each device in service was exposed: in service, and observed, while its node had logs (a GPU also while an agent that watches
-- GPUs ran on it). Days with logs that follow each other are one spell.
-- grain: one row per service_id, exposure_kind, from_at
with days as (
    select cluster, node, day, true as is_of_gpus
    from stg_coverage
    union all
    select cluster, node, day, false
    from stg_coverage
    where is_gpu_only is not true
),

islands as (
    select *, day - cast(row_number() over (partition by cluster, node, is_of_gpus order by day) as integer) as island
    from days
),

runs as (
    select
        cluster,
        node,
        is_of_gpus,
        timezone('UTC', min(day)::timestamp) as from_at,
        timezone('UTC', max(day)::timestamp + interval 1 day) as to_at
    from islands
    group by cluster, node, is_of_gpus, island
)

select service_id, 'in_service' as exposure_kind, from_at, to_at
from int_cells_service

union all

select
    service.service_id,
    'observed',
    greatest(service.from_at, runs.from_at),
    least(service.to_at, runs.to_at)
from int_cells_service as service
inner join runs
    on
        service.cluster = runs.cluster
        and service.node = runs.node
        and (service.exposure_class = 'gpu') = runs.is_of_gpus
        and service.from_at < runs.to_at
        and service.to_at > runs.from_at
