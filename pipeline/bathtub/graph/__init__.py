"""The judge of hangs: who is the cause, out of what the ranks entered and who waits for whom.

Evaluated in this order: nothing to judge by; ranks that entered different operations; ranks that no longer see their own
GPU; and then the wait-for graph, where an edge goes from each waiting rank to every rank that it needs and that is not
there. Ranks that only wait for waiters are victims and are never named. What ends the chains is the cause: ranks that have
nothing pending (never_joined), ranks without a file (no_dump), or ranks that sit together at one operation (all_joined,
which blames no rank); a cycle has an operation skipped, or groups in different orders.
"""

from collections.abc import Mapping

import polars as pl

from bathtub.graph._blame import blamed, nothing_pending
from bathtub.graph._explain import explained, why_lines
from bathtub.graph._mismatch import mismatch
from bathtub.graph._stuck import stuck
from bathtub.graph._verdict import DumpSet, Place, Verdict, undecidable
from bathtub.graph._waits import ABSENT, Row, Waits, ranks_of, told, whole

__all__ = ("READS", "SCHEMA", "explained", "hang_verdicts", "judge", "why_lines")

_OF_SETS = (
    "int_waits",
    "int_mismatches",
    "int_sequence_shifts",
    "int_sequence_habits",
    "int_transfer_habits",
    "int_rank_stalls",
    "int_rank_groups",
)
READS = ("int_dump_sets", "hang_findings", *_OF_SETS)

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

_CONFIDENCE = ("high", "medium", "low")
_EVIDENCE = 16


def hang_verdicts(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per cluster and dump_set, in that order: SCHEMA. `frames`: the relations READS."""
    classes = dict(frames["hang_findings"].select("finding", "hang_class").iter_rows())
    by_set = {name: _by_set(frames[name]) for name in _OF_SETS}
    rows = []
    for one in frames["int_dump_sets"].sort("cluster", "dump_set").iter_rows(named=True):
        key = (one["cluster"], one["dump_set"])
        relations = {name: found.get(key, []) for name, found in by_set.items()}
        verdict = judge(DumpSet(one, Waits(relations["int_waits"]), relations))
        rows.append(_row(one, verdict, classes[verdict.finding]))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def judge(dumps: DumpSet) -> Verdict:
    """The finding about one set of dumps."""
    found = _no_answer(dumps.one) or mismatch(dumps) or stuck(dumps)
    if found is not None:
        return found
    return blamed(dumps) if dumps.waits.rows else nothing_pending(dumps)


def _no_answer(one: Row) -> Verdict | None:
    if one["n_readable"] == 0:
        return undecidable("no dump can be read")
    if one["n_dumped"] == 0:
        return Verdict("no_data", "no dump holds data: the recorder was off, which is no proof of health")
    if one["n_dumped"] == 1 and one["world_size"] != 1:
        return undecidable("one dump alone cannot tell who waits for whom")
    if whole(one["n_runs"]) > 1:
        earlier = told(ranks_of(one["first_run"]))
        return undecidable(f"the dumps are of {one['n_runs']} runs: {earlier} are of the first; judge each run by its own files")
    if one["outrun"]:
        outrun = told(ranks_of(one["outrun"]))
        return undecidable(f"the dumps are of different moments or runs: others have done what {outrun} had not entered yet")
    return None


def _row(one: Row, verdict: Verdict, hang_class: str) -> list[object]:
    shown = sorted(verdict.waits, key=lambda row: (whole(row["created_ns"] or 0), whole(row["rank"]), whole(row["member"])))
    place = verdict.place
    if place is None and shown:
        place = Place(shown[0]["pg_name"], shown[0]["seq"], shown[0]["operation"])
    absent = [row for row in shown if row["situation"] in ABSENT and row["member_source_id"] is not None]
    named = {f"{row['member_source_id']}:1" for row in absent}
    evidence = [*verdict.refs, *sorted(named), *dict.fromkeys(f"{row['source_id']}:{row['line']}" for row in shown)]
    doubts = list(verdict.doubts)
    where = f"; group {place.pg_name}, operation {place.seq} ({place.operation})" if place else ""
    return [
        one["cluster"],
        one["dump_set"],
        one["job_id"],
        verdict.finding,
        hang_class,
        sorted(verdict.culprits),
        sorted(verdict.suspects),
        ranks_of(one["missing"]),
        "low" if verdict.finding in ("undecidable", "no_data") else _CONFIDENCE[min(len(doubts), 2)],
        place.pg_name if place else None,
        place.seq if place else None,
        evidence[:_EVIDENCE] or ranks_of(one["refs"])[:_EVIDENCE],
        verdict.summary + where + (f" [{'; '.join(doubts)}]" if doubts else ""),
    ]


def _by_set(frame: pl.DataFrame) -> dict[tuple[object, object], list[Row]]:
    found: dict[tuple[object, object], list[Row]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault((row["cluster"], row["dump_set"]), []).append(row)
    return found
