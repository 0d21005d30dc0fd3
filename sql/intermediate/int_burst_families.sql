-- Each burst with the first cause of its family, and its role there.
-- grain: one row per burst_id
with recursive ancestors as (
    select
        burst_id,
        parent_id,
        1 as depth
    from int_burst_parents

    union all

    select
        ancestors.burst_id,
        parents.parent_id,
        ancestors.depth + 1
    from ancestors
    inner join int_burst_parents as parents on ancestors.parent_id = parents.burst_id
    where ancestors.depth < 64
),

roots as (
    select
        burst_id,
        arg_max(parent_id, depth) as root_id
    from ancestors
    group by burst_id
)

select
    bursts.*,
    coalesce(roots.root_id, bursts.burst_id) as root_id,
    roots.root_id is null and bursts.role in ('derivative', 'companion', 'summary') as is_cause_missing,
    case
        when bursts.role = 'summary' then 'summary'
        when roots.root_id is null then 'primary'
        when parents.link_id = 'repeat' or bursts.role = 'primary' then 'derivative'
        else bursts.role
    end as family_role
from int_catalogued_bursts as bursts
left join roots on bursts.burst_id = roots.burst_id
left join int_burst_parents as parents on bursts.burst_id = parents.burst_id
