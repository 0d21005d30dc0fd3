-- What identifies a process group across ranks: its name and its members, since split groups and replicas share names. A rank
-- whose own dump does not give the members takes those of its peers where they agree; without any the name alone is the key.
-- grain: one row per cluster, dump_set, rank, pg_name
with configured as (
    select
        cluster,
        dump_set,
        rank,
        pg_name,
        member_ranks,
        pg_name || '#' || left(md5(array_to_string(list_sort(member_ranks), ',')), 8) as pg_key
    from stg_process_groups
    where pg_name is not null and member_ranks is not null
    qualify row_number() over (partition by cluster, dump_set, rank, pg_name order by source_id, line) = 1
),

named as (
    select
        cluster,
        dump_set,
        rank,
        pg_name,
        pg_desc,
        source_id
    from stg_collectives
    union all
    select
        cluster,
        dump_set,
        rank,
        pg_name,
        pg_desc,
        source_id
    from stg_process_groups
),

held as (
    select
        cluster,
        dump_set,
        rank,
        pg_name,
        max(pg_desc) as pg_desc,
        min(source_id) as source_id
    from named
    where pg_name is not null
    group by cluster, dump_set, rank, pg_name
),

peers as (
    select
        cluster,
        dump_set,
        pg_name,
        member,
        min(pg_key) as pg_key
    from (
        select
            cluster,
            dump_set,
            pg_name,
            pg_key,
            unnest(min(member_ranks)) as member
        from configured
        group by cluster, dump_set, pg_name, pg_key
    )
    group by cluster, dump_set, pg_name, member
    having count(*) = 1
)

select
    held.cluster,
    held.dump_set,
    held.rank,
    held.pg_name,
    held.pg_desc,
    held.source_id,
    coalesce(own.pg_key, peers.pg_key, held.pg_name) as pg_key,
    coalesce(own.pg_key, peers.pg_key) is not null as is_configured,
    held.pg_name = '0' or coalesce(held.pg_desc = 'default_pg', false) as is_default
from held
left join configured as own
    on held.cluster = own.cluster and held.dump_set = own.dump_set and held.rank = own.rank and held.pg_name = own.pg_name
left join peers
    on
        held.cluster = peers.cluster
        and held.dump_set = peers.dump_set
        and held.rank = peers.member
        and held.pg_name = peers.pg_name
