-- What each line of the scheduler's daemons does to a spell of a node out of use: it starts one, ends one, or tells its reason.
-- grain: one row per event, state_word, family
select
    event,
    state_word,
    family,
    role,
    kind
from node_event_roles
