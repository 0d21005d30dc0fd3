-- Process groups of the dumps in use. The nameless group of gloo's configuration stands for none and is left out. A status whose
-- entries are lost takes the name of the only group of the configuration that is left over, where it is the only such status.
-- grain: one row per source_id, line
with counted as (
    select
        pgs.*,
        dumps.naming,
        count(*) filter (where pgs.pg_id is not null and pgs.pg_name is null) over own as n_unnamed,
        count(*) filter (where pgs.pg_id is null and pgs.pg_name != '') over own as n_left,
        max(pgs.pg_name) filter (where pgs.pg_id is null and pgs.pg_name != '') over own as left_name
    from process_groups as pgs
    inner join stg_dumps as dumps on pgs.source_id = dumps.source_id
    where pgs.pg_name is distinct from ''
    window own as (partition by pgs.source_id)
)

select
    cluster,
    dump_set,
    rank,
    source_id,
    line,
    pg_id,
    case
        when pg_name is not null or pg_id is null then pg_name
        when naming = 'configured' then cast(pg_id as varchar)
        when n_unnamed = 1 and n_left = 1 then left_name
    end as pg_name,
    pg_desc,
    nullif(member_ranks, []) as member_ranks,
    last_enqueued,
    last_started,
    last_completed
from counted
