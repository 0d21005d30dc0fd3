-- What must (or must not) stand beside the evidence that a rule matches.
-- grain: one row per rule_id, condition
select
    rule_id,
    condition,
    kind,
    string_split(codes, ';') as codes,
    detail,
    scope,
    cast(lag_low_s as double) as lag_low_s,
    cast(lag_high_s as double) as lag_high_s,
    coalesce(cast(min_count as integer), 1) as min_count,
    coalesce(is_absent = 'true', false) as is_absent
from rule_conditions
