-- Host lines of one report, flap, kill or outage as one burst: of one family on one device of a node, none later than the silence
-- that its kind allows. The kind that tells most names it and gives its component; the severity is the worst of its lines'. Lines
-- that several logs of a node carry are counted once: the log with most of them counts.
-- grain: one row per burst_id
with marked as (
    select
        faults.*,
        kinds.component,
        kinds.action,
        kinds.role,
        coalesce(kinds.naming, 0) as naming,
        case when kinds.kind is null then 'unknown' else kinds.severity end as severity,
        coalesce(
            epoch_us(faults.seen_at) - lag(epoch_us(faults.seen_at)) over (
                partition by faults.cluster, faults.node, coalesce(faults.boot_id, ''), faults.family, faults.device
                order by faults.seen_at, faults.source_id, faults.line, faults.same_line
            ) <= coalesce(kinds.gap_s, parameters.burst_gap_s) * 1000000, false
        ) as continues
    from int_host_faults as faults
    left join stg_host_fault_kinds as kinds on faults.family = kinds.family and faults.kind = kinds.kind
    cross join parameters
),

numbered as (
    select
        marked.* exclude (severity),
        severities.severity,
        severities.severity_rank,
        sources.name as log_name,
        sum(cast(not marked.continues as integer)) over (
            partition by marked.cluster, marked.node, coalesce(marked.boot_id, ''), marked.family, marked.device
            order by marked.seen_at, marked.source_id, marked.line, marked.same_line
        ) as island,
        (marked.seen_at, marked.source_id, marked.line, marked.same_line) as place
    from marked
    inner join stg_sources as sources on marked.source_id = sources.source_id
    left join stg_severities as severities on marked.severity = severities.severity
),

counted as (
    select
        *,
        count(*) over (partition by cluster, node, boot_id, family, device, island, log_name) as n_of_log
    from numbered
)

select
    left(sha256(concat_ws('|', cluster, node, coalesce(boot_id, ''), family, device, epoch_us(min(seen_at)))), 16) as burst_id,
    cluster,
    node,
    any_value(is_node_known) as is_node_known,
    bool_and(is_time_estimated) as is_time_estimated,
    boot_id,
    family,
    arg_max(kind, (naming, -epoch_us(seen_at), source_id, line, same_line)) as kind,
    device,
    max(pci_bdf) as pci_bdf,
    max(port_bdf) as port_bdf,
    max(interface) as interface,
    min(seen_at) as first_at,
    max(seen_at) as last_at,
    max(n_of_log) as n_lines,
    sum(n_errors) as n_errors,
    coalesce(
        arg_max(component, (naming, -epoch_us(seen_at), source_id, line, same_line)) filter (where component is not null),
        case when not bool_or(role is not null) then 'unknown' end
    ) as component,
    coalesce(arg_max(severity, severity_rank) filter (where severity is not null), 'unknown') as severity,
    coalesce(max(severity_rank), 0) as severity_rank,
    arg_max(action, (naming, -epoch_us(seen_at), source_id, line, same_line)) filter (where action is not null) as action,
    arg_max(role, (naming, -epoch_us(seen_at), source_id, line, same_line)) as role,
    max(pid) as pid,
    max(process) as process,
    arg_max(code, (naming, -epoch_us(seen_at), source_id, line, same_line)) filter (where code is not null) as code,
    arg_max(text, (naming, -epoch_us(seen_at), source_id, line, same_line)) as text,
    case
        when min(place) = max(place) then [arg_min(source_id || ':' || line, place)]
        else [arg_min(source_id || ':' || line, place), arg_max(source_id || ':' || line, place)]
    end as refs
from counted
group by cluster, node, boot_id, family, device, island
