-- Components, the kind of device whose hours they are exposed to, and their row in the Llama 3 table.
-- grain: one row per component
select
    component,
    exposure_class,
    seen_by,
    llama3_row,
    llama3_fit
from components
