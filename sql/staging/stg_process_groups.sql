-- Process groups of the dumps in use. The nameless group of gloo's configuration stands for none and is left out.
-- grain: one row per source_id, line
select
    pgs.cluster,
    pgs.dump_set,
    pgs.rank,
    pgs.source_id,
    pgs.line,
    pgs.pg_id,
    pgs.pg_name,
    pgs.pg_desc,
    nullif(pgs.member_ranks, []) as member_ranks,
    pgs.last_enqueued,
    pgs.last_started,
    pgs.last_completed
from process_groups as pgs
inner join stg_dumps as dumps on pgs.source_id = dumps.source_id
where pgs.pg_name is distinct from ''
