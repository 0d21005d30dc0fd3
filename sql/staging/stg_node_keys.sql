-- How each node name that any source writes is compared: lower case and short, or as configured. IPv4 addresses stay whole.
-- grain: one row per node_as_written
with written as (
    select node as node_as_written from gpu_faults
    union
    select node from host_faults
    union
    select node from inventory
    union
    select node from telemetry
    union
    select node from observations
    union
    select node from maintenance
    union
    select node from coverage
    union
    select node from dumps
    union
    select node from nccl_events
    union
    select node from placements
    union
    select node from collective_speeds
    union
    select node from node_states
    union
    select node from scheduler_events
    union
    select node from fault_records
    union
    select failed_node from jobs
    union
    select unnest(nodes) from jobs
)

select
    node_as_written,
    case
        when regexp_full_match(node_as_written, '[0-9.]+') or parameters.node_name = 'full' then lower(node_as_written)
        when parameters.node_name = 'short' then lower(split_part(node_as_written, '.', 1))
        else lower(coalesce(nullif(regexp_extract(node_as_written, parameters.node_name, 1), ''), node_as_written))
    end as node
from written
cross join parameters
where node_as_written is not null
