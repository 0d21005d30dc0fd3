-- Faults of nodes that the scheduler's daemons tell: a node that registers with fewer GPUs than are configured (or than it had).
-- grain: one row per cluster, node, same_line, nth
select
    source_id,
    line,
    cluster,
    node,
    seen_at,
    time_quality,
    n_gpus,
    n_gpus_configured,
    concat_ws(' ', n_gpus, 'of', n_gpus_configured, 'GPUs registered') as text,
    same_line,
    nth
from stg_scheduler_events
where event in ('node_invalid', 'gpu_count_changed') and node is not null and n_gpus < n_gpus_configured
