-- No attempt is counted in two incidents.
select cluster, attempt_id, count(*) as n from int_incident_attempts group by cluster, attempt_id having count(*) != 1
