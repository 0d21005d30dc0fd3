-- What belongs to one failure episode: a strike and the attempts that it ended (on a node of the attempt, in the window before its
-- end that the severity asks for), strikes that a link or their component joins, a lost node with what struck it and what ended on
-- it, a hang and its attempt, pods that ended together. An attempt that a user or the scheduler stopped needs a strike that puts a GPU or a node out of use.
-- grain: one row per cluster, member, other
with struck as (
    select
        strikes.cluster,
        strikes.member,
        'attempt:' || attempts.attempt_id as other
    from int_strikes as strikes
    inner join stg_attempt_nodes as held on strikes.cluster = held.cluster and strikes.node = held.node
    inner join stg_jobs as attempts on held.cluster = attempts.cluster and held.attempt_id = attempts.attempt_id
    cross join parameters
    where
        strikes.ends_attempts
        and not coalesce(strikes.is_time_estimated, false)
        and attempts.is_closed
        and (attempts.ends_as = 'failure' or (attempts.ends_as = 'stopped' and strikes.severity_rank >= 5))
        and strikes.first_at <= attempts.ended_at + to_seconds(parameters.attempt_after_end_s)
        and strikes.last_at >= attempts.ended_at - to_seconds(
            case when strikes.severity_rank >= 5 then parameters.attempt_before_end_s else parameters.program_before_end_s end
        )
        and strikes.last_at >= coalesce(attempts.started_at, attempts.ended_at)
),

linked as (
    select
        strikes.cluster,
        strikes.member,
        others.member as other
    from int_strikes as strikes
    inner join int_strikes as others
        on strikes.cluster = others.cluster and strikes.node = others.node and strikes.member != others.member
    left join stg_evidence_links as links
        on
            strikes.kind = links.kind and strikes.code = links.code
            and others.kind = links.other_kind and others.code = links.other_code
    cross join parameters
    where
        (strikes.kind = 'host' or others.kind = 'host')
        and case
            when links.link_id is not null
                then epoch_us(others.first_at) - epoch_us(strikes.first_at) between links.lag_low_s * 1000000 and links.lag_high_s * 1000000
            else
                strikes.kind = 'host' and others.kind = 'host'
                and strikes.severity_rank >= 3 and others.severity_rank >= 3
                and strikes.component = others.component
                and abs(epoch_us(others.first_at) - epoch_us(strikes.first_at)) <= parameters.host_link_s * 1000000
        end
),

lost as (
    select
        losses.cluster,
        losses.member,
        'attempt:' || attempts.attempt_id as other
    from int_losses as losses
    inner join stg_attempt_nodes as held on losses.cluster = held.cluster and losses.node = held.node
    inner join stg_jobs as attempts on held.cluster = attempts.cluster and held.attempt_id = attempts.attempt_id
    left join int_told_nodes as told on attempts.cluster = told.cluster and attempts.attempt_id = told.attempt_id
    cross join parameters
    where
        attempts.is_closed
        and attempts.ends_as in ('failure', 'stopped')
        and coalesce(attempts.failed_node, told.node, losses.node) = losses.node
        and attempts.ended_at >= losses.possible_from_at
        and attempts.ended_at <= losses.detected_at + to_seconds(parameters.attempt_before_end_s)
        and coalesce(attempts.started_at, attempts.ended_at) <= losses.started_at

    union all

    select
        losses.cluster,
        losses.member,
        strikes.member
    from int_losses as losses
    inner join int_strikes as strikes on losses.cluster = strikes.cluster and losses.node = strikes.node
    cross join parameters
    where
        strikes.severity_rank >= 5
        and strikes.last_at >= losses.possible_from_at - to_seconds(parameters.attempt_before_end_s)
        and strikes.first_at <= losses.detected_at + to_seconds(parameters.attempt_after_end_s)
)

select * from struck
union
select * from linked
union
select * from lost
union
select cluster, 'hang:' || dump_set, 'attempt:' || attempt_id
from int_hangs
where attempt_id is not null and finding not in ('none', 'no_data')
union
select cluster, 'attempt:' || hub_attempt_id, 'attempt:' || attempt_id
from int_gangs
where attempt_id != hub_attempt_id
