"""Ranks that entered different operations under one number: the first such number tells, later ones are consequences."""

from collections.abc import Sequence
from dataclasses import replace

from bathtub.graph._verdict import DumpSet, Place, Verdict, doubts
from bathtub.graph._waits import Row, ranks_of, told, whole

_PAIR = 2


def mismatch(dumps: DumpSet) -> Verdict | None:
    """The finding about the earliest mismatch; None where all ranks agree."""
    found = sorted(dumps.rows("int_mismatches"), key=_order)
    if not found:
        return None
    first, rest = found[0], found[1:]
    if not first["is_tie"]:
        return _minority(dumps, first, rest)
    convicted = {rank for row in rest for rank in ranks_of(row["minority"])} & set(ranks_of(first["ranks"]))
    if convicted and 2 * len(convicted) <= len(ranks_of(first["ranks"])):
        what = f"{told(convicted)} differ elsewhere too"
        return _verdict(dumps, first, convicted, what, ["as many ranks have the one form as the other"])
    return _shift(dumps, first) or _unusual(dumps, first) or _tie(dumps, first)


def _order(row: Row) -> tuple[bool, int, str, int]:
    return not row["is_first"], whole(row["first_created_ns"] or 0), str(row["pg_key"]), whole(row["seq"])


def _minority(dumps: DumpSet, first: Row, rest: Sequence[Row]) -> Verdict:
    """The ranks that differ from most; those of mismatches that none of the same ranks has part in are weaker suspects."""
    minority, involved = set(ranks_of(first["minority"])), set(ranks_of(first["ranks"]))
    apart = [row for row in rest if row["is_first"] and not involved & set(ranks_of(row["ranks"]))]
    suspects = {rank for row in apart for rank in ranks_of(row["minority"])}
    by_rank = dict(zip(ranks_of(first["ranks"]), ranks_of(first["operations"]), strict=True))
    theirs = sorted({str(by_rank[rank]) for rank in minority})
    others = sorted({str(by_rank[rank]) for rank in involved - minority})
    what = f"{told(minority)} entered {_form(first, theirs)}, the others {_form(first, others)}"
    weak = [] if 2 * len(minority) < len(involved) else ["it is no clear minority"]
    return replace(_verdict(dumps, first, minority, what, weak), suspects=suspects)


def _form(row: Row, operations: Sequence[str]) -> str:
    another = {"type": "", "dtype": " of another data type", "size": " of another size"}[str(row["kind"])]
    return " or ".join(operations) + another


def _shift(dumps: DumpSet, first: Row) -> Verdict | None:
    """The ranks with an operation too many or too few, where their sequences show it one way only."""
    rows = _of(first, dumps.rows("int_sequence_shifts"))
    longer, shorter = {whole(row["rank"]) for row in rows}, {whole(row["other"]) for row in rows}
    usual = {row["is_usual"] for row in rows}
    if not rows or longer & shorter or len(usual) > 1:
        return None
    ranks, how = (shorter, "skipped an operation") if True in usual else (longer, "has an operation too many")
    what = f"{told(ranks)} {how}: from there on the operations equal those of the others at other numbers"
    verdict = _verdict(dumps, first, ranks, what, ["the sequences tell it, not a majority"])
    return replace(verdict, finding="sequence_shift")


def _unusual(dumps: DumpSet, first: Row) -> Verdict | None:
    """The ranks whose step into the operation nobody had made before, where that of the others is usual."""
    rows = _of(first, dumps.rows("int_sequence_habits"))
    ranks = {whole(row["rank"]) for row in rows if not row["is_usual"]}
    if not ranks or len(rows) < len(ranks_of(first["ranks"])) or 2 * len(ranks) > len(rows):
        return None
    what = f"{told(ranks)} left the order that the group kept until then"
    verdict = _verdict(dumps, first, ranks, what, ["the usual order tells it, not a majority"])
    is_shift = bool(_of(first, dumps.rows("int_sequence_shifts")))
    return replace(verdict, finding="sequence_shift" if is_shift else "op_mismatch")


def _of(first: Row, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if (row["pg_key"], row["seq"]) == (first["pg_key"], first["seq"])]


def _tie(dumps: DumpSet, first: Row) -> Verdict:
    """Two ranks that differ are both named, with low confidence; of more nobody is."""
    ranks = set(ranks_of(first["ranks"]))
    what = f"{told(ranks)} entered different operations, as many the one as the other"
    named, suspects = (ranks, set[int]()) if len(ranks) == _PAIR else (set[int](), ranks)
    verdict = _verdict(dumps, first, named, what, ["there is no majority", "nothing separates them"])
    return replace(verdict, suspects=suspects)


def _verdict(dumps: DumpSet, row: Row, ranks: set[int], what: str, weak: Sequence[str]) -> Verdict:
    by_rank = dict(zip(ranks_of(row["ranks"]), ranks_of(row["refs"]), strict=True))
    return Verdict(
        "op_mismatch",
        f"{what} ({row['kind']})",
        culprits=ranks,
        doubts=[*weak, *doubts({**dumps.one, "is_young": False, "is_far_apart": False})],
        place=Place(row["pg_name"], row["seq"], " / ".join(sorted({str(each) for each in ranks_of(row["operations"])}))),
        refs=[str(by_rank[rank]) for rank in sorted(by_rank, key=lambda rank: (rank not in ranks, rank))],
    )
