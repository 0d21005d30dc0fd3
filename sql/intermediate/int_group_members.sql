-- Members of each process group with their number inside it. Where no dump tells them (gloo), they are inferred: the ranks that
-- use the group, and for the default group every rank of the job.
-- grain: one row per cluster, dump_set, pg_key, member
with configured as (
    select
        keys.cluster,
        keys.dump_set,
        keys.pg_key,
        min(keys.pg_name) as pg_name,
        min(pgs.member_ranks) as member_ranks
    from stg_process_groups as pgs
    inner join int_group_keys as keys
        on
            pgs.cluster = keys.cluster
            and pgs.dump_set = keys.dump_set
            and pgs.rank = keys.rank
            and pgs.pg_name = keys.pg_name
    where pgs.member_ranks is not null
    group by keys.cluster, keys.dump_set, keys.pg_key
),

listed as (
    select
        * exclude (member_ranks),
        unnest(member_ranks) as member,
        generate_subscripts(member_ranks, 1) - 1 as member_number
    from configured
),

inferred as (
    select
        cluster,
        dump_set,
        pg_key,
        pg_name,
        rank as member
    from int_group_keys
    where not is_configured
    union
    select
        keys.cluster,
        keys.dump_set,
        keys.pg_key,
        keys.pg_name,
        ranks.rank
    from int_group_keys as keys
    inner join int_dump_ranks as ranks on keys.cluster = ranks.cluster and keys.dump_set = ranks.dump_set
    where keys.is_default and not keys.is_configured
)

select
    cluster,
    dump_set,
    pg_key,
    pg_name,
    member,
    member_number,
    false as is_inferred
from listed
union all
select
    cluster,
    dump_set,
    pg_key,
    pg_name,
    member,
    row_number() over (partition by cluster, dump_set, pg_key order by member) - 1,
    true
from inferred
where (cluster, dump_set, pg_key) not in (select (listed.cluster, listed.dump_set, listed.pg_key) from listed)
