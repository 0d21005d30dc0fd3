-- Row remapping of each GPU: the latest state that a poller read, since when it was pending or failed without a break, and the
-- highest count of rows remapped for uncorrectable errors with the first time that it was read. Rows in MIG mode say nothing.
-- grain: one row per cluster, node, device
with samples as (
    select
        cluster, node, device, pci_bdf, device_uuid, device_serial, seen_at, source_id, line,
        is_remap_pending, is_remap_failed, remapped_rows_correctable, remapped_rows_uncorrectable, recovery_action
    from stg_telemetry
    where coalesce(is_remap_pending, is_remap_failed, remapped_rows_uncorrectable > -1, remapped_rows_correctable > -1) is not null
),

latest as (
    select *
    from samples
    qualify row_number() over (partition by cluster, node, device order by seen_at desc, source_id desc, line desc) = 1
),

calm as (
    select
        cluster,
        node,
        device,
        max(seen_at) filter (where not is_remap_pending) as not_pending_at,
        max(seen_at) filter (where not is_remap_failed) as not_failed_at,
        max(remapped_rows_uncorrectable) as most_uncorrectable
    from samples
    group by cluster, node, device
),

since as (
    select
        samples.cluster,
        samples.node,
        samples.device,
        min(samples.seen_at) filter (
            where samples.is_remap_pending and samples.seen_at > coalesce(calm.not_pending_at, samples.seen_at - interval 1 second)
        ) as pending_since_at,
        min(samples.seen_at) filter (
            where samples.is_remap_failed and samples.seen_at > coalesce(calm.not_failed_at, samples.seen_at - interval 1 second)
        ) as failed_since_at,
        min(samples.seen_at) filter (where samples.remapped_rows_uncorrectable = calm.most_uncorrectable) as uncorrectable_since_at
    from samples
    inner join calm on samples.cluster = calm.cluster and samples.node = calm.node and samples.device = calm.device
    group by samples.cluster, samples.node, samples.device
)

select
    latest.cluster,
    latest.node,
    latest.device,
    latest.pci_bdf,
    latest.device_uuid,
    latest.device_serial,
    latest.seen_at,
    latest.is_remap_pending,
    since.pending_since_at,
    latest.is_remap_failed,
    since.failed_since_at,
    latest.remapped_rows_correctable,
    latest.remapped_rows_uncorrectable,
    since.uncorrectable_since_at,
    latest.recovery_action,
    latest.source_id || ':' || latest.line as ref
from latest
inner join since on latest.cluster = since.cluster and latest.node = since.node and latest.device = since.device
