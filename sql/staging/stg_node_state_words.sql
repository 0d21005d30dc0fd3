-- What each word of a node's state says about its use; the lowest priority among a state and its flags holds.
-- grain: one row per word
select
    word,
    availability,
    cast(priority as bigint) as priority,
    has_jobs = 'true' as has_jobs
from node_state_words
