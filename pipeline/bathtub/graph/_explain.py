"""What stands behind a verdict: the operation that stalled, who waits for whom, how far each group came, what would settle it."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from bathtub.graph._waits import ABSENT, Row, whole


def explained(verdict: Row, waits: Sequence[Row], groups: Sequence[Row], findings: pl.DataFrame) -> dict[str, object]:
    """Keys stalled, waits, groups, decides, all of plain values. `waits`, `groups`: int_waits and int_rank_groups of one set."""
    decides = dict(findings.select("finding", "decides").iter_rows())
    return {
        "stalled": _stalled(verdict, waits),
        "waits": [_wait(rows) for rows in _by(waits, "rank").values()],
        "groups": [_group(rows) for rows in _by(groups, "pg_key").values() if len(rows) > 1],
        "decides": decides[verdict["finding"]],
    }


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
