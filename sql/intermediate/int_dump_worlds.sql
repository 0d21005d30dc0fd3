-- The number of ranks of a dump set's job: the GPUs of the attempt that its path names. `bathtub hang --world` takes its place.
-- grain: one row per cluster, dump_set that has a known world size
select
    belongs.cluster,
    belongs.dump_set,
    attempts.n_gpus as world_size
from int_dump_attempts as belongs
inner join stg_jobs as attempts on belongs.cluster = attempts.cluster and belongs.attempt_id = attempts.attempt_id
where belongs.is_by_path and attempts.n_gpus > 0
