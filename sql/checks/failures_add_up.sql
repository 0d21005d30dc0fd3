-- The failures in the rate cells, those outside the exposure with them, are the failures among the incidents of the window.
select cells.exposure_kind, cells.n_failures, listed.n_incidents
from (select exposure_kind, sum(failures + failures_elsewhere) as n_failures from reliability_cells group by exposure_kind) as cells
cross join (select count(*) as n_incidents from incidents where is_failure and started_at is not null) as listed
where cells.n_failures != listed.n_incidents
