-- Every rank that must exist in a dump set, and whether its file is there. Ranks are numbered from 0 without gaps, so a gap is a
-- missing file; the world size and the members of groups tell of further ones. A file that cannot be read is told from its name;
-- one that was cut off has watermarks alone.
-- grain: one row per cluster, dump_set, rank
with refused as (
    select
        cluster,
        source_id,
        format,
        coalesce(nullif(regexp_extract(name, '^(.*)/[^/]*$', 1), ''), '.') as dump_set,
        try_cast(nullif(regexp_extract(name, '([0-9]+)[^0-9/]*$', 1), '') as bigint) as rank,
        regexp_matches(name, '[0-9](\.json)?$') as is_named_as_dump
    from stg_sources
    where status = 'quarantined' and (format = 'flight_recorder' or reason = 'empty_file')
),

unreadable as (
    select
        cluster,
        dump_set,
        rank,
        min(source_id) as source_id
    from refused
    where
        rank < 131072
        and (
            format is not null
            or (is_named_as_dump and (cluster, dump_set) in (select (known.cluster, known.dump_set) from stg_dumps as known))
        )
    group by cluster, dump_set, rank
),

named as (
    select
        cluster,
        dump_set,
        rank
    from stg_dumps
    union all
    select
        cluster,
        dump_set,
        rank
    from unreadable
    union all
    select
        cluster,
        dump_set,
        list_max(member_ranks)
    from stg_process_groups
    union all
    select
        cluster,
        dump_set,
        world_size - 1
    from int_dump_worlds
),

expected as (
    select
        cluster,
        dump_set,
        unnest(range(least(max(rank) + 1, 131072))) as rank
    from named
    group by cluster, dump_set
)

select
    expected.cluster,
    expected.dump_set,
    expected.rank,
    case
        when dumps.is_recorder_off then 'no_data'
        when dumps.is_cut then 'cut'
        when dumps.source_id is not null then 'dumped'
        when unreadable.source_id is not null then 'unreadable'
        else 'no_dump'
    end as file_state,
    coalesce(dumps.source_id, unreadable.source_id) as source_id
from expected
left join stg_dumps as dumps
    on expected.cluster = dumps.cluster and expected.dump_set = dumps.dump_set and expected.rank = dumps.rank
left join unreadable
    on expected.cluster = unreadable.cluster and expected.dump_set = unreadable.dump_set and expected.rank = unreadable.rank
