-- The failures in the rate cells are the failures among the incidents of the window.
select counted.n_failures, listed.n_incidents
from (select coalesce(sum(failures), 0) as n_failures from reliability_cells where exposure_kind = 'in_service') as counted
cross join (select count(*) as n_incidents from incidents where is_failure and started_at is not null) as listed
where counted.n_failures != listed.n_incidents
