-- Ranks that sent a peer, or received from it, more or fewer messages between two collectives than between all others. Told where
-- at least two other spans, all alike, show what is usual; of the span that a rank is still in only the surplus counts.
-- grain: one row per cluster, dump_set, rank, pg_key, member, is_send, after_seq
with pairs as (
    select distinct
        cluster,
        dump_set,
        rank,
        source_id,
        pg_key,
        pg_name,
        member,
        is_send
    from int_transfers
),

counted as (
    select
        pairs.*,
        spans.after_seq,
        spans.end_line is not null as is_closed,
        count(transfers.line) as n_messages,
        min(transfers.line) as first_line
    from pairs
    inner join int_transfer_spans as spans on pairs.source_id = spans.source_id and pairs.pg_key = spans.pg_key
    left join int_transfers as transfers
        on
            pairs.source_id = transfers.source_id
            and pairs.pg_key = transfers.pg_key
            and pairs.member = transfers.member
            and pairs.is_send = transfers.is_send
            and transfers.line > spans.line
            and (spans.end_line is null or transfers.line < spans.end_line)
    group by all
),

compared as (
    select
        *,
        count(*) filter (where is_closed) over others as n_others,
        min(n_messages) filter (where is_closed) over others as n_least,
        max(n_messages) filter (where is_closed) over others as n_most
    from counted
    window others as (
        partition by source_id, pg_key, member, is_send
        rows between unbounded preceding and unbounded following exclude current row
    )
)

select
    cluster,
    dump_set,
    rank,
    pg_key,
    pg_name,
    member,
    is_send,
    after_seq,
    n_messages,
    n_most as n_usual,
    source_id || ':' || coalesce(first_line, 1) as ref
from compared
where
    n_others >= 2
    and n_least = n_most
    and (n_messages > n_most or (is_closed and n_messages < n_most))
