-- What the devices of one class on a node have in common in the window; null where they differ or it is not known. The scheduler
-- tells which nodes an attempt held, and not which of their devices.
-- grain: one row per cluster, node, exposure_class
select
    cluster,
    node,
    exposure_class,
    case when count(distinct vendor) = 1 and count(vendor) = count(*) then min(vendor) end as vendor,
    case when count(distinct lot) = 1 and count(lot) = count(*) then min(lot) end as lot,
    case when count(distinct part_number) = 1 and count(part_number) = count(*) then min(part_number) end as part_number,
    case when count(distinct model) = 1 and count(model) = count(*) then min(model) end as model,
    case when count(distinct firmware) = 1 and count(firmware) = count(*) then min(firmware) end as firmware,
    case when count(distinct rack) = 1 and count(rack) = count(*) then min(rack) end as rack,
    case when count(distinct slot) = 1 and count(slot) = count(*) then min(slot) end as slot,
    case when count(distinct new_at) = 1 and count(new_at) = count(*) then min(new_at) end as new_at
from int_cells_service
group by cluster, node, exposure_class
