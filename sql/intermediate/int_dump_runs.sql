-- Dumps of a set that cannot be of one run or one moment. A later window begins another run where its ranks start at numbers that
-- an earlier one has passed, or wait in an operation that an earlier one entered longer ago than its timeout. A rank is outrun
-- where a peer has done operations that need it and that it has not even entered.
-- grain: one row per cluster, dump_set, rank
with restarted as (
    select distinct
        late.cluster,
        late.dump_set,
        late.window_number
    from int_dump_windows as early
    inner join int_dump_windows as late
        on early.cluster = late.cluster and early.dump_set = late.dump_set and early.window_number < late.window_number
    inner join int_rank_groups as before on early.source_id = before.source_id
    inner join int_rank_groups as after on late.source_id = after.source_id and before.pg_key = after.pg_key
    left join int_rank_heads as waiting on early.source_id = waiting.source_id and before.pg_key = waiting.pg_key
    left join int_rank_heads as there
        on late.source_id = there.source_id and waiting.pg_key = there.pg_key and waiting.seq = there.seq
    cross join parameters
    where
        case when before.is_gloo then before.reached_seq - 2 else before.passed_seq end >= after.ring_start_seq
        or there.created_ns - waiting.created_ns > coalesce(waiting.timeout_ms / 1e3, parameters.collective_timeout_s) * 1e9
),

furthest as (
    select
        cluster,
        dump_set,
        pg_key,
        max(joined_seq) as joined_seq
    from int_rank_groups
    group by cluster, dump_set, pg_key
),

outrun as (
    select distinct own.source_id
    from int_rank_groups as own
    inner join furthest on own.cluster = furthest.cluster and own.dump_set = furthest.dump_set and own.pg_key = furthest.pg_key
    where furthest.joined_seq >= own.reached_seq + 2
),

numbered as (
    select
        windows.source_id,
        count(restarted.window_number) as n_restarts
    from int_dump_windows as windows
    left join restarted
        on
            windows.cluster = restarted.cluster
            and windows.dump_set = restarted.dump_set
            and windows.window_number >= restarted.window_number
    group by windows.source_id
)

select
    dumps.cluster,
    dumps.dump_set,
    dumps.rank,
    1 + coalesce(numbered.n_restarts, 0) as run_number,
    outrun.source_id is not null as is_outrun
from stg_dumps as dumps
left join numbered on dumps.source_id = numbered.source_id
left join outrun on dumps.source_id = outrun.source_id
