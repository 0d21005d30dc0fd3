"""The wait-for graph of a hang: who is the cause, out of who waits for whom.

An edge goes from each waiting rank to every rank that it needs and that is not there. Ranks that only wait for waiters
are victims and are never named. What ends the chains is the cause: ranks that have nothing pending (never_joined), ranks
without a file (no_dump), or ranks that sit together at one operation (all_joined, which blames no rank). A mismatch, a
cycle, or a rank that lists as pending what its peers have done is not judged here yet: `unknown`, naming nobody.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import polars as pl

READS = ("int_dump_sets", "int_mismatches", "int_waits")

SCHEMA = {
    "cluster": pl.String(),
    "dump_set": pl.String(),
    "job_id": pl.String(),
    "finding": pl.String(),
    "hang_class": pl.String(),
    "culprits": pl.List(pl.Int64()),
    "suspects": pl.List(pl.Int64()),
    "missing": pl.List(pl.Int64()),
    "confidence": pl.String(),
    "pg_name": pl.String(),
    "seq": pl.Int64(),
    "evidence": pl.List(pl.String()),
    "summary": pl.String(),
}
"""Columns of int_hang_verdicts: one row per cluster and dump_set. `evidence` holds `source_id:line`."""

Row = Mapping[str, object]

_CLASSES = {"never_joined": "host", "none": "none"}
_CONFIDENCE = ("high", "medium", "low")
_STUCK_LAG = 2
"""Healthy ranks differ by one; a rank that has not seen two operations its peers have done no longer sees its GPU."""
_EVIDENCE = 16
_EDGES = ("idle", "queued", "elsewhere", "no_dump", "unreadable", "no_data")
"""Where a member is whom one waits for; the others are at the same operation or past it (`at_same_op`, `ahead`)."""


@dataclass(frozen=True)
class Verdict:
    """A finding about one set of dumps, the ranks it names, and the waits that show it."""

    finding: str
    summary: str
    culprits: Iterable[int] = ()
    suspects: Iterable[int] = ()
    waits: Sequence[Row] = ()
    doubts: Sequence[str] = ()


@dataclass(frozen=True)
class Waits:
    """The waits of one set of dumps as a graph. Nodes are ranks."""

    rows: Sequence[Row]

    def pointing_to(self, *situations: str) -> list[Row]:
        """The waits for members in one of these situations."""
        return [row for row in self.rows if row["situation"] in situations]

    def members(self, *situations: str) -> set[int]:
        """The members in one of these situations that somebody waits for."""
        return {_int(row["member"]) for row in self.pointing_to(*situations)}

    def needing_nobody(self) -> set[int]:
        """The ranks whose members are all at the operation or past it."""
        return {_int(row["rank"]) for row in self.rows} - {_int(row["rank"]) for row in self.rows if row["situation"] in _EDGES}

    def joined(self) -> set[int]:
        """The ranks that need nobody who is not at the same operation: they sit together."""
        return {_int(row["rank"]) for row in self.rows} - {
            _int(row["rank"]) for row in self.rows if row["situation"] != "at_same_op"
        }

    def stuck(self) -> set[int]:
        """The ranks that list as pending what a peer has done, by more than healthy ranks differ. Not told for gloo."""
        ahead = self.pointing_to("ahead")
        return {_int(row["rank"]) for row in ahead if row["backend"] != "gloo" and _int(row["lag"]) >= _STUCK_LAG}

    def not_ending_in(self, ends: set[int]) -> set[int]:
        """The ranks none of whose chains of waits ends in one of these."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(_int(row["rank"]) for row in self.rows)
        graph.add_edges_from((_int(row["rank"]), _int(row["member"])) for row in self.rows if row["situation"] in _EDGES)
        reached = set(ends)
        for end in ends & set(graph):
            reached |= nx.ancestors(graph, end)
        return set(graph) - reached


def hang_verdicts(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per cluster and dump_set, in that order: SCHEMA. `frames`: the relations READS."""
    waits, mismatches = (_by_set(frames[name]) for name in ("int_waits", "int_mismatches"))
    rows = []
    for one in frames["int_dump_sets"].sort("cluster", "dump_set").iter_rows(named=True):
        key = (one["cluster"], one["dump_set"])
        verdict = judge(one, Waits(waits.get(key, [])), mismatches.get(key, []))
        rows.append(_row(one, verdict))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def judge(one: Row, waits: Waits, mismatches: Sequence[Row]) -> Verdict:
    """The finding about one set of dumps: `one` is its row of int_dump_sets."""
    undecided = _no_answer(one) or _not_judged(waits, mismatches)
    if undecided is not None:
        return undecided
    return _blamed(one, waits) if waits.rows else _nothing_pending(one)


def _no_answer(one: Row) -> Verdict | None:
    if one["n_readable"] == 0:
        return Verdict("unknown", "no dump can be read")
    if one["n_dumped"] == 0:
        return Verdict("no_data", "no dump holds data: the recorder was off, which is no proof of health")
    if one["n_dumped"] == 1 and one["world_size"] != 1:
        return Verdict("unknown", "one dump alone cannot tell who waits for whom")
    return None


def _not_judged(waits: Waits, mismatches: Sequence[Row]) -> Verdict | None:
    if mismatches:
        first = min(mismatches, key=lambda row: (_int(row["first_created_ns"] or 0), str(row["pg_key"]), _int(row["seq"])))
        where = f"group {first['pg_name']}, operation {first['seq']}"
        return Verdict(
            "unknown", f"ranks entered different operations ({first['kind']}; {where}): whose error it is is not judged"
        )
    if stuck := waits.stuck():
        return Verdict("unknown", f"{_ranks(stuck)} still waiting for what their peers have done: not judged")
    return None


def _nothing_pending(one: Row) -> Verdict:
    missing = _list(one["missing"])
    if one["n_pending"] != 0:
        return Verdict("unknown", "operations are pending, but whom they wait for cannot be told")
    if missing and one["is_gloo"] and 2 * len(missing) < _int(one["n_ranks"]):
        doubts = ["gloo shows failed operations as done", "nobody is seen waiting"]
        return Verdict("no_dump", f"{_ranks(missing)} left no dump, all others did", culprits=missing, doubts=doubts)
    if missing or one["unreadable"]:
        return Verdict("unknown", "nothing is pending where a dump can be read, but files are missing or unreadable")
    doubts = ["gloo shows failed operations as done"] if one["is_gloo"] else []
    return Verdict("none", "nothing is pending", doubts=doubts)


def _blamed(one: Row, waits: Waits) -> Verdict:
    """What the chains of waits end in: ranks with nothing pending before ranks without a file before unreadable ones."""
    idle, gone, unread = waits.members("idle"), waits.members("no_dump"), waits.members("unreadable", "no_data")
    ends = idle | gone | unread | waits.joined()
    if not ends:
        return _without_end(one, waits)
    if loose := waits.not_ending_in(ends | waits.needing_nobody()):
        return Verdict(
            "unknown", f"{_ranks(loose)}: waits in a cycle, or for a rank whose own wait cannot be told", suspects=unread
        )
    if idle:
        return _never_joined(one, waits, idle, gone | unread)
    if gone:
        return _no_dump(one, waits, gone, unread)
    if unread:
        return Verdict("unknown", f"the only ranks waited for, {_ranks(unread)}, cannot be read", suspects=unread)
    shown = [row for row in waits.rows if row["rank"] in waits.joined()]
    what = "all members of the group are at the operation, and it does not end: network, library or a GPU, no rank stands out"
    doubts = ["one moment cannot tell a hang from an operation under way", *_doubts(one, shown)]
    return Verdict("all_joined", what, waits=shown, doubts=doubts)


def _never_joined(one: Row, waits: Waits, idle: set[int], weaker: set[int]) -> Verdict:
    n_idle = _int(one["n_dumped"]) - _int(one["n_pending"])
    if 2 * n_idle > _int(one["n_dumped"]):
        what = "most ranks have nothing pending: the others are an operation too far, or the dumps are of different moments"
        return Verdict("unknown", what, suspects=weaker)
    shown = waits.pointing_to("idle")
    doubts = _doubts(one, shown)
    if waits.members("no_dump"):
        doubts += ["ranks without a dump are waited for too", "their end may be the cause"]
    what = f"{_ranks(idle)} with nothing pending did not come to an operation that others wait in"
    return Verdict("never_joined", what, idle, weaker, shown, doubts)


def _no_dump(one: Row, waits: Waits, gone: set[int], unread: set[int]) -> Verdict:
    if 2 * len(_list(one["missing"])) >= _int(one["n_ranks"]):
        return Verdict("unknown", "half of the ranks or more have no dump: files may not have been collected")
    shown = waits.pointing_to("no_dump")
    what = f"{_ranks(gone)} left no dump, and others wait for them"
    return Verdict("no_dump", what, gone, unread, shown, ["why there is no file is not told", *_doubts(one, shown)])


def _without_end(one: Row, waits: Waits) -> Verdict:
    if waits.not_ending_in(waits.needing_nobody()):
        return Verdict("unknown", "ranks wait for one another in a cycle, or for a rank whose own wait cannot be told")
    if one["is_gloo"] or one["missing"] or one["unreadable"]:
        return Verdict("unknown", "what is pending on some ranks is done on the others")
    return Verdict("none", "what is pending on some ranks is done on the others: seen late", doubts=["operations are pending"])


def _doubts(one: Row, shown: Sequence[Row]) -> list[str]:
    doubts = []
    if one["is_gloo"] or any(row["is_inferred"] for row in shown):
        doubts.append("gloo, or members inferred")
    if _int(one["n_versions"]) > 1:
        doubts.append("dumps of several layouts")
    if one["is_after_abort"]:
        doubts.append("operations were freed by an abort")
    return doubts


def _row(one: Row, verdict: Verdict) -> list[object]:
    shown = sorted(verdict.waits, key=lambda row: (_int(row["created_ns"] or 0), _int(row["rank"]), _int(row["member"])))
    first = shown[0] if shown else None
    named = {f"{row['member_source_id']}:1" for row in shown if row["member_source_id"] is not None}
    evidence = [*sorted(named), *dict.fromkeys(f"{row['source_id']}:{row['line']}" for row in shown)]
    doubts = list(verdict.doubts)
    where = f"; group {first['pg_name']}, operation {first['seq']} ({first['operation']})" if first else ""
    return [
        one["cluster"],
        one["dump_set"],
        one["job_id"],
        verdict.finding,
        _CLASSES.get(verdict.finding, "unknown"),
        sorted(verdict.culprits),
        sorted(verdict.suspects),
        _list(one["missing"]),
        "low" if verdict.finding in ("unknown", "no_data") else _CONFIDENCE[min(len(doubts), 2)],
        first["pg_name"] if first else None,
        first["seq"] if first else None,
        evidence[:_EVIDENCE] or _list(one["refs"])[:_EVIDENCE],
        verdict.summary + where + (f" [{'; '.join(doubts)}]" if doubts else ""),
    ]


def _by_set(frame: pl.DataFrame) -> dict[tuple[object, object], list[Row]]:
    found: dict[tuple[object, object], list[Row]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault((row["cluster"], row["dump_set"]), []).append(row)
    return found


def _ranks(ranks: Iterable[int]) -> str:
    numbers = sorted(ranks)
    return ("rank " if len(numbers) == 1 else "ranks ") + ", ".join(map(str, numbers))


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _list(value: object) -> list[int]:
    assert isinstance(value, list)
    return value
