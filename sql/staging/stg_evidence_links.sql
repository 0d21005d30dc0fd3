-- Which evidence of one node belongs to one episode with which other: one code beside one other code.
-- grain: one row per link_id, code, other_code
select
    link_id,
    kind,
    codes.code,
    other_kind,
    others.code as other_code,
    cast(lag_low_s as double) as lag_low_s,
    cast(lag_high_s as double) as lag_high_s
from evidence_links
cross join unnest(string_split(evidence_links.codes, ';')) as codes (code)
cross join unnest(string_split(evidence_links.other_codes, ';')) as others (code)
