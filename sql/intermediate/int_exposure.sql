-- Device-hours in the window, by what the devices are and by how they are counted: in service (inventory), allocated (attempts),
-- observed (node-days with logs; of GPUs also with an agent that watched them). What cannot be told gives no row. A device that nobody
-- wrote down counts from its first sight.
-- grain: one row per cluster, exposure_class, exposure_kind
with slots as (
    select
        devices.cluster,
        devices.node,
        devices.device_class as exposure_class,
        devices.device_id,
        greatest(
            coalesce(devices.in_service_at, case when devices.inventory_source = 'seen' then devices.first_seen_at end, reported.start_at),
            reported.start_at
        ) as from_at,
        least(coalesce(devices.removed_at, reported.end_at), reported.end_at) as to_at
    from int_inventory as devices
    cross join int_window as reported

    union all

    select
        cluster,
        node,
        'node',
        node,
        min(greatest(
            coalesce(in_service_at, case when inventory_source = 'seen' then first_seen_at end, reported.start_at), reported.start_at
        )),
        max(least(coalesce(removed_at, reported.end_at), reported.end_at))
    from int_inventory
    cross join int_window as reported
    group by cluster, node
    having not bool_or(device_class = 'node')
),

in_service as (
    select
        cluster,
        exposure_class,
        'in_service' as exposure_kind,
        count(distinct device_id) as n_devices,
        sum(epoch_us(to_at) - epoch_us(from_at)) as device_us
    from slots
    where to_at > from_at
    group by cluster, exposure_class
),

observed as (
    select
        slots.cluster,
        slots.exposure_class,
        'observed' as exposure_kind,
        count(distinct slots.device_id) as n_devices,
        sum(epoch_us(least(slots.to_at, days.to_at)) - epoch_us(greatest(slots.from_at, days.from_at))) as device_us
    from slots
    inner join (
        select *, timezone('UTC', day::timestamp) as from_at, timezone('UTC', day::timestamp + interval 1 day) as to_at
        from stg_coverage
    ) as days
        on slots.cluster = days.cluster and slots.node = days.node and days.from_at < slots.to_at and days.to_at > slots.from_at
    where slots.to_at > slots.from_at and (slots.exposure_class = 'gpu' or days.is_gpu_only is not true)
    group by slots.cluster, slots.exposure_class
),

held as (
    select
        jobs.cluster,
        jobs.n_gpus,
        jobs.n_nodes,
        epoch_us(least(jobs.known_until_at, reported.end_at)) - epoch_us(greatest(jobs.started_at, reported.start_at)) as held_us
    from stg_jobs as jobs
    cross join int_window as reported
    where
        jobs.started_at < reported.end_at
        and jobs.known_until_at > greatest(jobs.started_at, reported.start_at)
        and (jobs.is_closed or jobs.state in ('RUNNING', 'COMPLETING', 'SUSPENDED', 'Running', 'Terminating'))
),

allocated as (
    select cluster, 'gpu' as exposure_class, 'allocated' as exposure_kind, null::bigint as n_devices, sum(n_gpus * held_us) as device_us
    from held
    where n_gpus > 0
    group by cluster

    union all

    select cluster, 'node', 'allocated', null::bigint, sum(n_nodes * held_us)
    from held
    where n_nodes > 0
    group by cluster
)

select
    cluster,
    exposure_class,
    exposure_kind,
    n_devices,
    device_us / 3600000000.0 as device_hours
from (select * from in_service union all select * from observed union all select * from allocated)
