-- Which burst follows from which other: one code beside one possible parent code (null: any primary; -1: any SXid).
-- grain: one row per link_id, child_xid, parent_xid
select
    link_id,
    cast(replace(children.xid, 'sxid', '-1') as bigint) as child_xid,
    cast(replace(nullif(parents.xid, '*'), 'sxid', '-1') as bigint) as parent_xid,
    scope,
    cast(before_s as double) as before_s,
    cast(after_s as double) as after_s
from burst_links
cross join unnest(string_split(child_xid, ';')) as children (xid)
cross join unnest(string_split(parent_xid, ';')) as parents (xid)
