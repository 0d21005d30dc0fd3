-- Pieces of age in which hours and failures are counted; the last has no end.
-- grain: one row per age_band
select
    age_band,
    cast(from_h as double) as from_h,
    cast(to_h as double) as to_h
from age_bands
