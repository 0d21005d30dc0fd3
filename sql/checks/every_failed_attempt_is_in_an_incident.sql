-- No failed attempt is left without an incident.
select jobs.cluster, jobs.attempt_id
from stg_jobs as jobs
anti join int_incident_attempts as found on jobs.cluster = found.cluster and jobs.attempt_id = found.attempt_id
where jobs.is_closed and jobs.ends_as = 'failure'
