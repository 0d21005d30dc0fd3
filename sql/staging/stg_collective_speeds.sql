-- Finished collectives of the inspector, each once: the longest source is the one cited.
-- grain: one row per cluster, comm_id, rank, op, seq
select
    speeds.source_id,
    speeds.line,
    speeds.cluster,
    sets.log_set,
    sets.job_id,
    speeds.comm_id,
    speeds.rank,
    speeds.n_ranks,
    keys.node,
    speeds.op,
    speeds.seq,
    speeds.seen_at,
    speeds.message_bytes,
    speeds.elapsed_us,
    speeds.bus_bandwidth_gbs
from collective_speeds as speeds
inner join stg_log_sets as sets on speeds.source_id = sets.source_id
inner join stg_sources as sources on speeds.source_id = sources.source_id
left join stg_node_keys as keys on speeds.node = keys.node_as_written
where speeds.time_quality is distinct from 'future'
qualify row_number() over (
    partition by speeds.cluster, speeds.comm_id, speeds.rank, speeds.op, speeds.seq
    order by sources.n_bytes desc, speeds.source_id, speeds.line
) = 1
