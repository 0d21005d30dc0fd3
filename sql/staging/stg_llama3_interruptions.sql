-- The interruptions of the Llama 3 paper as printed.
-- grain: one row per llama3_row
select
    llama3_row,
    category,
    cast(n_interruptions as bigint) as published_count,
    cast(printed_pct as double) as published_printed_pct
from llama3_interruptions
