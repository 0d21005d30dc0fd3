-- The one burst that each other burst follows from: the burst that it repeats, else one that a link allows: the code that its
-- text names (`caused by previous Xid`), else the nearest, on the same device first. So that nothing goes in circles, links with
-- a window to one side only need a parent in front, and no burst follows from one that repeats it.
-- grain: one row per burst_id that has a parent
with linked as (
    select
        child.burst_id,
        parent.burst_id as parent_id,
        links.link_id,
        coalesce(child.caused_by_xid = parent.xid, false) as is_named,
        child.device = parent.device as is_same_device,
        abs(epoch_us(child.first_at) - epoch_us(parent.first_at)) as distance_us,
        parent.severity_rank,
        parent.place
    from int_catalogued_bursts as child
    inner join stg_burst_links as links on coalesce(child.xid, case when child.sxid is not null then -1 end) = links.child_xid
    inner join int_catalogued_bursts as parent
        on
            child.cluster = parent.cluster
            and child.node = parent.node
            and child.boot_id is not distinct from parent.boot_id
            and child.burst_id != parent.burst_id
            and parent.first_at between child.first_at - to_microseconds(cast(links.before_s * 1000000 as bigint))
            and child.first_at + to_microseconds(cast(links.after_s * 1000000 as bigint))
    where
        child.repeats_burst_id = child.burst_id
        and parent.repeats_burst_id != child.burst_id
        and (
            parent.xid = links.parent_xid
            or (links.parent_xid = -1 and parent.sxid is not null and parent.ends_attempts)
            or (links.parent_xid is null and parent.role = 'primary' and parent.ends_attempts)
        )
        and (links.scope = 'node' or child.device = parent.device)
        and (links.after_s > 0 or parent.place < child.place)
)

select
    burst_id,
    parent_id,
    link_id
from linked
qualify row_number() over (
    partition by burst_id order by is_named desc, is_same_device desc, distance_us, severity_rank desc, place, link_id
) = 1

union all

select
    burst_id,
    repeats_burst_id,
    'repeat'
from int_catalogued_bursts
where repeats_burst_id != burst_id
