-- The failures of the run beside the rows of the Llama 3 table of interruptions; shares are recomputed from counts.
-- grain: one row per llama3_row
with ours as (
    select
        components.llama3_row,
        count(*) as found_count
    from int_incidents as incidents
    inner join stg_components as components on incidents.component = components.component
    cross join int_window as reported
    where
        incidents.is_failure
        and (incidents.component != 'unknown' or list_contains(incidents.kinds, 'hang'))  -- watchdog timeouts need their evidence
        and incidents.started_at >= reported.start_at
        and incidents.started_at < reported.end_at
    group by all
)

select
    published.llama3_row,
    published.category,
    published.published_count,
    round(100.0 * published.published_count / sum(published.published_count) over (), 1) as published_pct,
    published.published_printed_pct,
    coalesce(ours.found_count, 0) as found_count,
    round(100.0 * coalesce(ours.found_count, 0) / nullif(sum(coalesce(ours.found_count, 0)) over (), 0), 1) as found_pct
from stg_llama3_interruptions as published
left join ours on published.llama3_row = ours.llama3_row
order by published.published_count desc, published.llama3_row
