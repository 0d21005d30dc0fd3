-- Fault lines of one code on one device without a gap of burst_gap_s, as one burst. Recovery summaries (154) are one burst only
-- with equal text, codes of NVLink and of switches (SXid) only on one link: the up to three lines of an SXid are one burst. Lines
-- that several logs of a node carry are counted once: the log with most of them counts.
-- grain: one row per burst_id
with marked as (
    select
        faults.*,
        case when faults.xid = 154 then coalesce(faults.text, '') else '' end as told_apart_by,
        coalesce(
            epoch_us(faults.seen_at) - lag(epoch_us(faults.seen_at)) over same <= parameters.burst_gap_s * 1000000, false
        ) as continues
    from stg_gpu_faults as faults
    anti join int_agent_copies as copies on faults.source_id = copies.source_id and faults.line = copies.line
    cross join parameters
    window same as (
        partition by
            faults.cluster, faults.node, coalesce(faults.boot_id, ''), faults.device, faults.gpu_instance, faults.xid, faults.sxid, faults.link,
            case when faults.xid = 154 then coalesce(faults.text, '') else '' end
        order by faults.seen_at, faults.source_id, faults.line
    )
),

numbered as (
    select
        *,
        sum(cast(not continues as integer)) over (
            partition by cluster, node, coalesce(boot_id, ''), device, gpu_instance, xid, sxid, link, told_apart_by
            order by seen_at, source_id, line
        ) as island
    from marked
),

per_log as (
    select
        numbered.cluster,
        numbered.node,
        numbered.boot_id,
        numbered.device,
        numbered.gpu_instance,
        numbered.xid,
        numbered.sxid,
        numbered.link,
        numbered.told_apart_by,
        numbered.island,
        sources.name as log_name,
        any_value(numbered.is_node_known) as is_node_known, bool_and(numbered.is_time_estimated) as is_time_estimated,
        count(*) as n_lines,
        min(numbered.seen_at) as first_at,
        max(numbered.seen_at) as last_at,
        arg_min(numbered.text, (numbered.seen_at, numbered.source_id, numbered.line)) as text,
        arg_min(numbered.line, (numbered.seen_at, numbered.source_id, numbered.line)) as first_line,
        arg_min(numbered.source_id || ':' || numbered.line, (numbered.seen_at, numbered.source_id, numbered.line)) as first_ref,
        arg_max(numbered.source_id || ':' || numbered.line, (numbered.seen_at, numbered.source_id, numbered.line)) as last_ref,
        arg_max(numbered.recovery_action, (numbered.seen_at, numbered.source_id, numbered.line)) as recovery_action,
        arg_min(struct_pack(unit := numbered.unit, subcode := numbered.subcode, registers := numbered.registers), (numbered.line_severity, numbered.seen_at, numbered.source_id, numbered.line)) filter (where numbered.unit is not null or numbered.registers is not null) as decoded,
        min(numbered.line_severity) as line_severity,
        max(numbered.memory_site) as memory_site,
        max(numbered.caused_by_xid) as caused_by_xid,
        max(numbered.device_uuid) as device_uuid,
        max(numbered.pci_bdf) as pci_bdf
    from numbered
    inner join stg_sources as sources on numbered.source_id = sources.source_id
    group by all
)

select
    left(sha256(concat_ws(
        '|', cluster, node, coalesce(boot_id, ''), device, gpu_instance, coalesce(cast(xid as varchar), ''), told_apart_by, epoch_us(min(first_at)),
        'sxid ' || sxid, 'link ' || link
    )), 16) as burst_id,
    cluster,
    node,
    any_value(is_node_known) as is_node_known, bool_and(is_time_estimated) as is_time_estimated,
    boot_id,
    device,
    gpu_instance,
    xid,
    sxid,
    link,
    min(first_at) as first_at,
    max(last_at) as last_at,
    max(n_lines) as n_lines,
    arg_min(first_line, (first_at, log_name)) as first_line,
    arg_min(text, (first_at, log_name)) as text,
    case
        when arg_min(first_ref, (first_at, log_name)) = arg_max(last_ref, (last_at, log_name)) then [arg_min(first_ref, (first_at, log_name))]
        else [arg_min(first_ref, (first_at, log_name)), arg_max(last_ref, (last_at, log_name))]
    end as refs,
    arg_max(recovery_action, (last_at, log_name)) as recovery_action,
    min(line_severity) as line_severity,
    arg_min(decoded, (line_severity, first_at, log_name)).unit as unit,
    arg_min(decoded, (line_severity, first_at, log_name)).subcode as subcode,
    arg_min(decoded, (line_severity, first_at, log_name)).registers as registers,
    max(memory_site) as memory_site,
    max(caused_by_xid) as caused_by_xid,
    max(device_uuid) as device_uuid,
    max(pci_bdf) as pci_bdf
from per_log
group by cluster, node, boot_id, device, gpu_instance, xid, sxid, link, told_apart_by, island
