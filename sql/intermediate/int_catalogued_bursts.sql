-- Bursts with what the catalogues say of their code (of NVLink5 and of switches the line itself says how bad it is), and the burst that each repeats: the first of a run of the same kind of
-- code on one device (or node) in one boot without the silence that ends it. `place` is the order on a node: by time, and
-- within one moment (logs may know seconds only) causes before what follows from causes, then lines as they stand in their log.
-- grain: one row per burst_id
with catalogued as (
    select
        bursts.*,
        coalesce(causes.component, catalog.component, switches.component, case when catalog.xid is null then 'unknown' end) as component,
        coalesce(catalog.part, switches.part) as part,
        coalesce(decoded.action, case when causes.action = 'decode' then 'reset_gpu' else causes.action end, catalog.action, switches.action) as action,
        coalesce(decoded.role, catalog.role, 'primary') as role,
        decoded.decode_rule,
        decoded.layout,
        decoded.next_action,
        coalesce(severities.severity, 'unknown') as severity,
        coalesce(severities.severity_rank, 0) as severity_rank,
        coalesce(severities.ends_attempts, true) as ends_attempts,
        repeats.repeat_id,
        case when repeats.repeat_scope = 'node' then '' else bursts.device end as repeats_on,
        repeats.gap_s
    from int_bursts as bursts
    left join stg_xid_catalog as catalog on bursts.xid = catalog.xid
    left join stg_xid_catalog as causes on bursts.caused_by_xid = causes.xid
    left join stg_sxid_catalog as switches on bursts.sxid = switches.sxid
    left join int_nvlink5_bursts as decoded on bursts.burst_id = decoded.burst_id
    left join stg_severities as severities
        on severities.severity = coalesce(
            decoded.severity,
            causes.severity,
            case when bursts.sxid is not null then case coalesce(bursts.line_severity, switches.severity_word) when 'fatal' then 'fatal_gpu' when 'nonfatal' then 'warning' end end,
            catalog.severity,
            'unknown'
        )
    left join stg_burst_repeats as repeats on bursts.xid = repeats.xid
),

placed as (
    select
        *,
        row_number() over (partition by cluster, node order by first_at, role != 'primary', first_line, burst_id) as place
    from catalogued
),

marked as (
    select
        *,
        coalesce(epoch_us(first_at) - max(epoch_us(last_at)) over (
            partition by cluster, node, coalesce(boot_id, ''), repeats_on, repeat_id
            order by place rows between unbounded preceding and 1 preceding
        ) <= gap_s * 1000000, false) as repeats_earlier
    from placed
),

numbered as (
    select
        *,
        sum(cast(not repeats_earlier as integer)) over (
            partition by cluster, node, coalesce(boot_id, ''), repeats_on, repeat_id order by place
        ) as run
    from marked
)

select
    * exclude (gap_s, repeats_on, repeats_earlier, run),
    case
        when repeat_id is null then burst_id
        else first_value(burst_id) over (
            partition by cluster, node, coalesce(boot_id, ''), repeats_on, repeat_id, run order by place
        )
    end as repeats_burst_id
from numbered
