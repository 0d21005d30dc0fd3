-- Verdicts name declared components only.
select incident_id, component from int_incidents where component not in (select component from stg_components)
