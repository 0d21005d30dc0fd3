-- Process groups of the dumps in use. The nameless group of gloo's configuration stands for none and is left out.
-- grain: one row per source_id, line
select
    groups.cluster,
    groups.dump_set,
    groups.rank,
    groups.source_id,
    groups.line,
    groups.pg_id,
    groups.pg_name,
    groups.pg_desc,
    nullif(groups.member_ranks, []) as member_ranks,
    groups.last_enqueued,
    groups.last_started,
    groups.last_completed
from process_groups as groups
inner join stg_dumps as dumps on groups.source_id = dumps.source_id
where groups.pg_name is distinct from ''
