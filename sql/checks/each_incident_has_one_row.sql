-- Each incident is judged once.
select incident_id, count(*) as n from int_incidents group by incident_id having count(*) != 1
