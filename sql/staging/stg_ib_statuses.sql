-- What each status of a failed work completion tells by itself; one that is not here is a peer that cannot be reached.
-- grain: one row per status
select
    cast(status as bigint) as status,
    name,
    finding
from ib_statuses
