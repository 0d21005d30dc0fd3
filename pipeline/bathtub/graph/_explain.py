"""What stands behind a verdict: the operation that stalled, who waits for whom, how far each group came, what would settle it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from bathtub.graph._waits import ABSENT, Row, told, whole

_LINES = 16
_WHERE = {
    "idle": "nothing pending",
    "queued": "entered it and waits in an earlier one",
    "elsewhere": "waits elsewhere",
    "no_dump": "no dump",
    "unreadable": "its dump cannot be read",
    "cut": "entered it, its dump is cut off",
    "no_data": "recorder off",
    "ahead": "has done it",
}


def explained(verdict: Row, waits: Sequence[Row], groups: Sequence[Row], findings: pl.DataFrame) -> dict[str, object]:
    """Keys stalled, waits, groups, decides, all of plain values. `waits`, `groups`: int_waits and int_rank_groups of one set."""
    decides = dict(findings.select("finding", "decides").iter_rows())
    return {
        "stalled": _stalled(verdict, waits),
        "waits": [_wait(rows) for rows in _by(waits, "rank").values()],
        "groups": [_group(rows) for rows in _by(groups, "pg_key").values() if len(rows) > 1],
        "decides": decides[verdict["finding"]],
    }


def why_lines(why: Row) -> Iterator[str]:
    """The same as lines of text; of many waits and groups the first."""
    stalled, waits, groups = why["stalled"], why["waits"], why["groups"]
    if isinstance(stalled, dict):
        absent = told(stalled["absent"]) if stalled["absent"] else "nobody"
        yield f"stalled: {_place(stalled)}; waiting: {told(stalled['waiting'])}; absent: {absent}"
    assert isinstance(waits, list)
    assert isinstance(groups, list)
    for each in waits[:_LINES]:
        members = "; ".join(f"{told(ranks)} ({_WHERE.get(where, where)})" for where, ranks in each["for"].items())
        yield f"rank {each['rank']} waits in {_place(each)} for {members or 'nobody: all are there'}"
    if len(waits) > _LINES:
        yield f"and {len(waits) - _LINES} more that wait"
    for each in groups[:_LINES]:
        spans = ", ".join(f"{name} {_told(each[name])}" for name in ("entered", "done"))
        yield f"group {each['group']} ({each['description']}), {told(each['ranks'])}: {spans}"
    if len(groups) > _LINES:
        yield f"and {len(groups) - _LINES} more groups"
    yield f"would settle the rest: {why['decides']}"


def _place(row: Row) -> str:
    return f"{row['operation']} {row['seq']} of group {row['group']}"


def _told(span: Sequence[int] | None) -> str:
    if span is None:
        return "unknown"
    return f"up to {span[0]}" if span[0] == span[1] else f"up to {span[0]} by the last and {span[1]} by the first"


def _stalled(verdict: Row, waits: Sequence[Row]) -> dict[str, object] | None:
    """The operation that the verdict is about, else the oldest that somebody waits in."""
    place = (verdict["pg_name"], verdict["seq"])
    about = [row for row in waits if (row["pg_name"], row["seq"]) == place]
    if not about and waits:
        oldest = min(waits, key=lambda row: (whole(row["created_ns"] or 0), whole(row["rank"])))
        about = [row for row in waits if (row["pg_key"], row["seq"]) == (oldest["pg_key"], oldest["seq"])]
    if not about:
        return None
    return {
        "group": about[0]["pg_name"],
        "operation": about[0]["operation"],
        "seq": about[0]["seq"],
        "waiting": _ranks(about, "rank"),
        "absent": _ranks([row for row in about if row["situation"] in ABSENT], "member"),
    }


def _wait(rows: Sequence[Row]) -> dict[str, object]:
    """One rank's wait: its operation, and the members by where they are; those at the operation are left out."""
    first = rows[0]
    absent = _by([row for row in rows if row["situation"] != "at_same_op"], "situation")
    return {
        "rank": first["rank"],
        "group": first["pg_name"],
        "operation": first["operation"],
        "seq": first["seq"],
        "for": {str(situation): _ranks(found, "member") for situation, found in absent.items()},
    }


def _group(rows: Sequence[Row]) -> dict[str, object]:
    """One group: the ranks whose dumps show it, the last operation entered by the first and the last of them, and done."""
    return {
        "group": rows[0]["pg_name"],
        "description": rows[0]["pg_desc"],
        "ranks": _ranks(rows, "rank"),
        "entered": _span(row["reached_seq"] for row in rows),
        "done": _span(row["passed_seq"] for row in rows),
    }


def _span(values: Iterable[object]) -> list[int] | None:
    known = [whole(value) for value in values if value is not None]
    return [min(known), max(known)] if known else None


def _ranks(rows: Sequence[Row], column: str) -> list[int]:
    return sorted({whole(row[column]) for row in rows})


def _by(rows: Sequence[Row], column: str) -> Mapping[object, list[Row]]:
    """The rows by the value of a column, in its order."""
    found: dict[object, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (str(row[column]) if column != "rank" else "", whole(row["rank"]))):
        found.setdefault(row[column], []).append(row)
    return found
