-- Codes whose bursts on one device (or on one node) repeat until a reset, and the silence that ends the repetition.
-- grain: one row per xid
select
    cast(codes.xid as bigint) as xid,
    repeat_id,
    scope as repeat_scope,
    cast(gap_s as double) as gap_s
from burst_repeats
cross join unnest(string_split(xids, ';')) as codes (xid)
