-- No burst is lost or doubled between the bursts and their families.
select coalesce(bursts.burst_id, families.burst_id) as burst_id
from int_bursts as bursts
full join int_burst_families as families on bursts.burst_id = families.burst_id
group by all
having count(*) != 1 or bool_or(bursts.burst_id is null or families.burst_id is null)
