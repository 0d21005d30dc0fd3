-- What each Xid means by default. Codes that are not here are of component unknown.
-- grain: one row per xid
select
    cast(xid as bigint) as xid,
    name,
    component,
    part,
    severity,
    action,
    role
from xid_catalog
