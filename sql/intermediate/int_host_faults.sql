-- What stands about faults of hosts: lines of their kernel, what only agents tell, and the scheduler's count of GPUs; the latter
-- two are about the host where no line names a device.
-- grain: one row per cluster, node, same_line, nth
select * from stg_host_faults

union all by name

select
    source_id,
    line,
    cluster,
    node,
    true as is_node_known,
    seen_at,
    time_quality,
    time_quality = 'observation' as is_time_estimated,
    family,
    kind,
    'host' as device,
    code,
    concat_ws(': ', reason, text) as text,
    concat_ws('|', 'agent', source_id, line, epoch_us(seen_at), condition) as same_line,
    1 as nth
from int_agent_faults

union all by name

select
    source_id,
    line,
    cluster,
    node,
    true as is_node_known,
    seen_at,
    time_quality,
    time_quality = 'observation' as is_time_estimated,
    'gpu' as family,
    'gpu_lost_to_scheduler' as kind,
    'host' as device,
    text,
    'scheduler|' || same_line as same_line,
    nth
from int_scheduler_faults
