-- The time that the reports cover: as asked for, else from the first thing that any source tells.
-- grain: one row
with seen as (
    select min(first_at) as first_at from stg_coverage
    union all
    select min(coalesce(started_at, ended_at)) from stg_jobs
    union all
    select min(first_at) from int_bursts
    union all
    select min(first_at) from int_host_bursts
    union all
    select min(started_at) from int_losses
    union all
    select min(started_at) from stg_fault_records
    union all
    select min(first_at) from int_log_verdicts
    union all
    select min(first_created_at) from stg_dumps
)

select
    coalesce(any_value(parameters.window_start_at), min(seen.first_at)) as start_at,
    any_value(parameters.window_end_at) as end_at
from parameters
cross join seen
