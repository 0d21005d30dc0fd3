-- Failed requests of network devices and what each tells: network_path where both ends of a connection ran out of retries, or one
-- device did towards several peers; else what its status alone tells. A flushed request tells nothing.
-- grain: one row per cluster, log_set, ref
with failed as (
    select
        events.*,
        events.status in (12, 13) as is_retry,
        coalesce(statuses.finding, 'peer_unreachable') as finding_alone
    from stg_nccl_events as events
    left join stg_ib_statuses as statuses on events.status = statuses.status
    where events.kind = 'net_ib_error'
),

ends as (
    select distinct
        cluster,
        log_set,
        address,
        peer
    from failed
    where is_retry and address is not null and peer is not null
),

pairs as (
    select mine.*
    from ends as mine
    inner join ends as other
        on
            mine.cluster = other.cluster and mine.log_set = other.log_set
            and mine.address = other.peer and mine.peer = other.address and mine.address != mine.peer
),

devices as (
    select
        cluster,
        log_set,
        node,
        hca
    from failed
    where is_retry and node is not null and hca is not null
    group by cluster, log_set, node, hca
    having count(distinct peer) >= 2
)

select
    failed.cluster,
    failed.log_set,
    failed.ref,
    failed.node,
    failed.hca,
    failed.peer,
    case
        when failed.is_retry and (pairs.peer is not null or devices.hca is not null) then 'network_path'
        else failed.finding_alone
    end as finding
from failed
left join pairs
    on
        failed.cluster = pairs.cluster and failed.log_set = pairs.log_set
        and failed.address = pairs.address and failed.peer = pairs.peer
left join devices
    on
        failed.cluster = devices.cluster and failed.log_set = devices.log_set
        and failed.node = devices.node and failed.hca = devices.hca
where failed.role != 'cascade'
