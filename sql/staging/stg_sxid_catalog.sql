-- What each NVSwitch code means where its line does not say how bad it is.
-- grain: one row per sxid
select
    cast(sxid as bigint) as sxid,
    symbol,
    unit,
    component,
    part,
    case nvsentinel_severity when 'fatal' then 'fatal' when 'nonfatal' then 'nonfatal' end as severity_word,
    nvsentinel_action as action
from sxid_catalog
