-- What the table of the decoding says of each NVLink5 burst (144-150): its rule and layout, the sub-code's next action. The first
-- register has another layout since R575; the unit's name, its code and the status tell which one fits. Severity is the word in the
-- line, whatever the rule says: Nonfatal ends a program where the rule asks for an action, else it is a warning; without a rule it is unknown.
-- grain: one row per burst_id
with fitting as (
    select
        bursts.burst_id,
        rules.*,
        case
            when rules.layout = 'before_r575' then bursts.registers[1] >> 10 & 1 else bursts.registers[1] >> 7 & 1
        end = 1 as is_promoted
    from int_bursts as bursts
    inner join stg_nvlink5_decode as rules
        on
            bursts.xid = rules.xid
            and list_contains(string_split(bursts.unit, '/'), rules.unit)
            and (bursts.xid != 149 or bursts.subcode = rules.subcode)
            and (rules.error_status is null or bursts.registers[2] = rules.error_status)
            and (
                (
                    rules.layout = 'before_r575'
                    and bursts.registers[1] & 31 = rules.xid - 143
                    and bursts.registers[1] >> 5 & 31 = rules.unit_code
                )
                or (rules.layout = 'r575_or_newer' and bursts.registers[1] & 127 = rules.unit_code)
            )
),

chosen as (
    select * from fitting
    qualify row_number() over (partition by burst_id order by layout desc, rule, unit) = 1
)

select
    bursts.burst_id,
    chosen.rule as decode_rule,
    chosen.layout,
    chosen.origin,
    chosen.next_action,
    coalesce(case when chosen.is_promoted then chosen.promoted_action end, chosen.action) as action,
    case
        when bursts.line_severity = 'fatal' then 'fatal_gpu'
        when bursts.line_severity = 'nonfatal' and coalesce(case when chosen.is_promoted then chosen.promoted_action end, chosen.action) = 'none'
            then 'warning'
        when bursts.line_severity = 'nonfatal' and chosen.rule is not null then 'app'
    end as severity,
    case
        when bursts.xid = 145 and list_contains(string_split(bursts.unit, '/'), 'RLW_SRC_TRACK') and bursts.registers[2] in (4, 8)
            then 'derivative'
    end as role
from int_bursts as bursts
left join chosen on bursts.burst_id = chosen.burst_id
where bursts.xid between 144 and 150 and bursts.unit is not null
