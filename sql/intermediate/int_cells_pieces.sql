-- Exposure as intervals of alike devices: the spells of devices in service and observed, and what attempts held. The GPUs of an
-- attempt stand evenly on its nodes; where their number does not divide, or the nodes are not all known, the node is null.
-- grain: one row per cluster, exposure_class, exposure_kind, node, vendor, lot, part_number, model, firmware, rack, slot, new_at, from_at, to_at
with nodes_of as (
    select cluster, attempt_id, count(*) as n_listed
    from stg_attempt_nodes
    group by cluster, attempt_id
),

held as (
    select
        jobs.cluster,
        jobs.attempt_id,
        jobs.n_gpus,
        jobs.n_nodes,
        coalesce(nodes_of.n_listed, 0) as n_listed,
        greatest(jobs.started_at, reported.start_at) as from_at,
        least(jobs.known_until_at, reported.end_at) as to_at
    from stg_jobs as jobs
    cross join int_window as reported
    left join nodes_of on jobs.cluster = nodes_of.cluster and jobs.attempt_id = nodes_of.attempt_id
    where
        jobs.started_at < reported.end_at
        and jobs.known_until_at > greatest(jobs.started_at, reported.start_at)
        and (jobs.is_closed or jobs.state in ('RUNNING', 'COMPLETING', 'SUSPENDED', 'Running', 'Terminating'))
),

shares as (
    select
        *,
        'gpu' as exposure_class,
        n_gpus as n_held,
        n_listed > 0 and n_listed = coalesce(n_nodes, n_listed) and n_gpus % greatest(n_listed, 1) = 0 as is_even
    from held
    where n_gpus > 0
    union all
    select *, 'node', n_nodes, n_listed = n_nodes
    from held
    where n_nodes > 0
),

allocated as (
    select
        shares.cluster,
        shares.exposure_class,
        placed.node,
        case when placed.node is null then shares.n_held else shares.n_held // shares.n_listed end as n_devices,
        shares.from_at,
        shares.to_at
    from shares
    left join stg_attempt_nodes as placed
        on shares.is_even and shares.cluster = placed.cluster and shares.attempt_id = placed.attempt_id
),

pieces as (
    select
        service.cluster, service.exposure_class, spells.exposure_kind, service.node, service.vendor, service.lot, service.part_number,
        service.model, service.firmware, service.rack, service.slot, service.new_at, spells.from_at, spells.to_at, 1 as n_devices
    from int_cells_spells as spells
    inner join int_cells_service as service on spells.service_id = service.service_id

    union all

    select
        allocated.cluster, allocated.exposure_class, 'allocated', allocated.node, alike.vendor, alike.lot, alike.part_number,
        alike.model, alike.firmware, alike.rack, alike.slot, alike.new_at, allocated.from_at, allocated.to_at, allocated.n_devices
    from allocated
    left join int_cells_nodes as alike
        on allocated.cluster = alike.cluster and allocated.node = alike.node and allocated.exposure_class = alike.exposure_class
)

select * exclude (n_devices), sum(n_devices) as n_devices
from pieces
group by all
