-- Kinds of episodes of nodes out of use; of several statements within the detection lag the lowest priority names the episode.
-- grain: one row per kind
select
    kind,
    cast(priority as bigint) as priority,
    is_loss = 'true' as is_loss,
    is_by_person = 'true' as is_by_person
from node_episode_kinds
