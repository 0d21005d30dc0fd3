-- What belongs to one failure episode: a family of bursts and the attempts that it ended (a burst on a node of the attempt, in the
-- window before its end that its severity asks for), and a hang and its attempt. An attempt that a user or the scheduler stopped
-- needs a burst that puts a GPU or a node out of use. NODE_FAIL is no cause, only an end.
-- grain: one row per cluster, member, other
with struck as (
    select distinct
        bursts.cluster,
        'burst:' || bursts.root_id as member,
        'attempt:' || attempts.attempt_id as other
    from int_burst_families as bursts
    inner join stg_attempt_nodes as held on bursts.cluster = held.cluster and bursts.node = held.node
    inner join stg_jobs as attempts on held.cluster = attempts.cluster and held.attempt_id = attempts.attempt_id
    cross join parameters
    where
        bursts.ends_attempts
        and attempts.is_closed
        and (attempts.ends_as = 'failure' or (attempts.ends_as = 'stopped' and bursts.severity_rank >= 5))
        and bursts.first_at <= attempts.ended_at + to_seconds(parameters.attempt_after_end_s)
        and bursts.last_at >= attempts.ended_at - to_seconds(
            case when bursts.severity_rank >= 5 then parameters.attempt_before_end_s else parameters.program_before_end_s end
        )
        and bursts.last_at >= coalesce(attempts.started_at, attempts.ended_at)
),

hung as (
    select distinct
        cluster,
        'hang:' || dump_set as member,
        'attempt:' || attempt_id as other
    from int_hangs
    where attempt_id is not null and finding not in ('none', 'no_data')
)

select * from struck
union all
select * from hung
