"""What the chains of waits end in: ranks with nothing pending, ranks without a file, ranks that sit together, or a cycle."""

from collections import Counter
from collections.abc import Sequence

from bathtub.graph._verdict import DumpSet, Verdict, doubts, undecidable
from bathtub.graph._waits import Row, ranks_of, told, whole

_SWAP = 2
"""Two groups in another order explain one operation more in one other group; more than that is one skipped."""


def blamed(dumps: DumpSet) -> Verdict:
    """Ranks with nothing pending before ranks without a file before unreadable ones; then those who sit together."""
    waits = dumps.waits
    idle, gone, unread = waits.members("idle"), waits.members("no_dump"), waits.members("unreadable", "no_data")
    ends = idle | gone | unread | waits.members("cut") | waits.joined()
    found = _miscounted(dumps) if not idle | gone | unread else None
    if found or not ends:
        return found or _without_end(dumps)
    if loose := waits.not_ending_in(ends | waits.needing_nobody()):
        return undecidable(f"{told(loose)}: waits in a cycle, or for a rank whose own wait cannot be told", suspects=unread)
    if idle or gone:
        return _never_joined(dumps, idle, gone | unread) if idle else _no_dump(dumps, gone, unread)
    if unread:
        return undecidable(f"the only ranks waited for, {told(unread)}, cannot be read", suspects=unread)
    if waits.joined():
        return _all_joined(dumps)
    return undecidable("the ranks waited for have entered the operation, and their entries are cut off: where they are is lost")


def nothing_pending(dumps: DumpSet) -> Verdict:
    """No rank is seen to wait."""
    one, missing = dumps.one, ranks_of(dumps.one["missing"])
    if one["n_pending"] != 0:
        return undecidable("operations are pending, but whom they wait for cannot be told")
    if missing and one["is_gloo"] and 2 * len(missing) < whole(one["n_ranks"]):
        weak = ["gloo shows failed operations as done", "nobody is seen waiting"]
        return Verdict("no_dump", f"{told(missing)} left no dump, all others did", culprits=missing, doubts=weak)
    if missing or one["unreadable"]:
        return undecidable("nothing is pending where a dump can be read, but files are missing or unreadable")
    weak = ["gloo shows failed operations as done"] if one["is_gloo"] else []
    return Verdict("none", "nothing is pending", doubts=weak)


def _never_joined(dumps: DumpSet, idle: set[int], weaker: set[int]) -> Verdict:
    one = dumps.one
    n_idle = whole(one["n_dumped"]) - whole(one["n_pending"])
    if 2 * n_idle > whole(one["n_dumped"]):
        what = "most ranks have nothing pending: the others are an operation too far, or the dumps are of different moments"
        return undecidable(what, suspects=weaker)
    shown = dumps.waits.pointing_to("idle")
    weak = doubts(one, shown)
    if dumps.waits.members("no_dump"):
        weak += ["ranks without a dump are waited for too", "their end may be the cause"]
    what = f"{told(idle)} with nothing pending did not come to an operation that others wait in"
    return Verdict("never_joined", what, idle, weaker, shown, weak)


def _no_dump(dumps: DumpSet, gone: set[int], unread: set[int]) -> Verdict:
    if 2 * len(ranks_of(dumps.one["missing"])) >= whole(dumps.one["n_ranks"]):
        return undecidable("half of the ranks or more have no dump: files may not have been collected")
    shown = dumps.waits.pointing_to("no_dump")
    weak = ["why there is no file is not told", *doubts(dumps.one, shown)]
    return Verdict("no_dump", f"{told(gone)} left no dump, and others wait for them", gone, unread, shown, weak)


def _all_joined(dumps: DumpSet) -> Verdict:
    shown = [row for row in dumps.waits.rows if row["rank"] in dumps.waits.joined()]
    what = "all members of the group are at the operation, and it does not end: network, library or a GPU, no rank stands out"
    weak = ["one moment cannot tell a hang from an operation under way", *doubts(dumps.one, shown)]
    return Verdict("all_joined", what, waits=shown, doubts=weak)


def _without_end(dumps: DumpSet) -> Verdict:
    one, waits = dumps.one, dumps.waits
    if loose := waits.not_ending_in(waits.needing_nobody()):
        found = [cycle for cycle in waits.cycles() if cycle <= loose]
        return _cycle(dumps, found[0]) if len(found) == 1 else undecidable(_circles(loose))
    if one["is_gloo"] or one["missing"] or one["unreadable"]:
        return undecidable("what is pending on some ranks is done on the others")
    what = "what is pending on some ranks is done on the others: seen late"
    return Verdict("none", what, doubts=["operations are pending", *doubts(one)])


def _miscounted(dumps: DumpSet) -> Verdict | None:
    """The one rank that sent or received another number of messages than it always does between two collectives."""
    rows = dumps.rows("int_transfer_habits")
    ranks = {whole(row["rank"]) for row in rows}
    pairs = {frozenset((row["rank"], row["member"])) for row in rows}
    shown = [row for row in dumps.waits.rows if row["is_p2p"] and frozenset((row["rank"], row["member"])) in pairs]
    if len(ranks) != 1 or not shown:
        return None
    row = min(rows, key=lambda row: (whole(row["after_seq"]), whole(row["member"])))
    peer = f"{'sent to' if row['is_send'] else 'received from'} rank {row['member']}"
    what = f"{told(ranks)}: {row['n_messages']} messages {peer} between two collectives, {row['n_usual']} at all other times"
    weak = ["what is usual tells it, not a majority", *doubts(dumps.one, shown)]
    return Verdict("sequence_shift", what, ranks, waits=shown, doubts=weak, refs=[str(row["ref"])])


def _circles(loose: set[int]) -> str:
    return f"{told(loose)} wait for one another in more cycles than one, or for a rank whose own wait cannot be told"


def _cycle(dumps: DumpSet, cycle: set[int]) -> Verdict:
    """The rank that lacks an operation and went further elsewhere skipped it; else the fewest are in the wrong order."""
    waits = dumps.waits
    shown = [row for row in waits.rows if row["rank"] in cycle and row["member"] in cycle]
    weak = doubts(dumps.one, shown)
    lacking = {whole(row["member"]) for row in shown if row["situation"] == "elsewhere"}
    skipped = {rank for rank in lacking if _is_further(dumps.rows("int_rank_groups"), rank, cycle)}
    if skipped and 2 * len(skipped) < len(cycle):
        what = f"{told(skipped)} skipped an operation that others wait in, and went on in other groups"
        return Verdict("sequence_shift", what, skipped, waits=_about(shown, skipped), doubts=weak)
    places = Counter(_place(waits.heads[rank]) for rank in cycle)
    most = max(places.values())
    majority = [place for place, count in places.items() if count == most]
    minority = {rank for rank in cycle if _place(waits.heads[rank]) not in majority}
    groups = " and ".join(sorted({str(waits.heads[rank]["pg_name"]) for rank in cycle}))
    if len(majority) == 1 and minority and 2 * len(minority) < len(cycle):
        what = f"{told(minority)} use the groups {groups} in another order than the others of the cycle"
        return Verdict("order_cycle", what, minority, waits=_about(shown, minority), doubts=weak)
    what = f"{told(cycle)} wait for one another in a cycle over the groups {groups}; no order has a majority"
    return Verdict("order_cycle", what, (), cycle, shown, ["there is no majority", "the order of the ranks differs", *weak])


def _about(shown: Sequence[Row], ranks: set[int]) -> list[Row]:
    return [row for row in shown if row["member"] in ranks] or list(shown)


def _place(head: Row) -> tuple[object, object]:
    return head["pg_key"], head["seq"]


def _is_further(groups: Sequence[Row], rank: int, cycle: set[int]) -> bool:
    """Whether a rank is ahead of the others of the cycle by more than an exchanged pair of operations explains."""
    reached: dict[object, dict[int, int]] = {}
    for row in groups:
        if row["rank"] in cycle and row["reached_seq"] is not None:
            reached.setdefault(row["pg_key"], {})[whole(row["rank"])] = whole(row["reached_seq"])
    gains = 0
    for by_rank in reached.values():
        others = [seq for other, seq in by_rank.items() if other != rank]
        if rank in by_rank and others:
            gains += max(0, by_rank[rank] - max(others))
    return gains >= _SWAP
