-- Each burst's first cause is a burst that has none itself: nothing goes in circles, no evidence hangs in the air.
select families.burst_id, families.root_id
from int_burst_families as families
left join int_burst_families as roots on families.root_id = roots.burst_id
where roots.root_id is distinct from roots.burst_id
