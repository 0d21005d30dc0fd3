"""Ranks that no longer see their own GPU: peers have done, or started, what they list as pending."""

from bathtub.graph._verdict import DumpSet, Place, Verdict, doubts, undecidable
from bathtub.graph._waits import told, whole

_LAG = 2
"""Healthy ranks differ by one operation of one group."""


def stuck(dumps: DumpSet) -> Verdict | None:
    """The finding about ranks whose completions are missing; None where there are none."""
    rows = [row for row in dumps.rows("int_rank_stalls") if whole(row["n_done_elsewhere"]) >= _LAG]
    if not rows:
        return _not_started(dumps)
    ranks = {whole(row["rank"]) for row in rows}
    if dumps.one["is_far_apart"]:
        return undecidable(f"{told(ranks)}: behind their peers, but the dumps were written more than a minute apart")
    first = min(rows, key=lambda row: (whole(row["rank"]), str(row["pg_key"])))
    groups = {rank: {row["pg_key"] for row in rows if row["rank"] == rank} for rank in ranks}
    weak = [] if all(len(found) > 1 for found in groups.values()) else ["seen in one group alone"]
    return Verdict(
        "completion_stuck",
        f"{told(ranks)} still waiting for operations that peers have done and that need these ranks: the GPU is not seen",
        culprits=ranks,
        doubts=[*weak, *doubts({**dumps.one, "is_young": False})],
        place=Place(first["pg_name"], first["seq"], first["operation"]),
        refs=[str(row["ref"]) for row in rows],
    )


def _not_started(dumps: DumpSet) -> Verdict | None:
    """With timing on: all members are at one operation, and a minority has not started it: its stream is blocked."""
    joined = dumps.waits.joined()
    by_place: dict[tuple[object, object], set[int]] = {}
    for rank in joined:
        head = dumps.waits.heads[rank]
        by_place.setdefault((head["pg_key"], head["seq"]), set()).add(rank)
    for ranks in by_place.values():
        waiting = {rank for rank in ranks if not dumps.waits.heads[rank]["is_started"]}
        if waiting and 2 * len(waiting) < len(ranks) and not any(dumps.waits.heads[rank]["is_p2p"] for rank in ranks):
            shown = [row for row in dumps.waits.rows if row["rank"] in waiting]
            what = f"all members entered the operation and all but {told(waiting)} started it: something blocks the stream"
            return Verdict("completion_stuck", what, waiting, waits=shown, doubts=["one operation alone", *doubts(dumps.one)])
    return None
