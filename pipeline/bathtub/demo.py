"""What was found in the simulated cluster beside what was planted there."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

NEAR = timedelta(minutes=15)
CONFIDENT = ("high", "medium")
COLUMNS = {
    "planted_id": pl.String(),
    "planted_component": pl.String(),
    "expected_component": pl.String(),
    "expected_cause": pl.String(),
    "note": pl.String(),
    "incident_id": pl.String(),
    "started_at": pl.String(),
    "node": pl.String(),
    "job_ids": pl.String(),
    "found_component": pl.String(),
    "found_cause": pl.String(),
    "confidence": pl.String(),
    "is_serial_right": pl.Boolean(),
    "verdict": pl.String(),
}
Row = Mapping[str, str]


def compare(incidents_csv: Path, truth_csv: Path) -> pl.DataFrame:
    """One row per planted incident in order of time, then one per incident that nobody planted.

    `verdict`: yes (component, failure and planned as a right judge says), no, missed (nothing found), extra (not
    planted). A planned row is right where what was found is planned and no failure, whatever its component.
    `is_serial_right` is null where no device was planted or nothing was found. Incidents are matched by a shared job,
    else by node and a start within fifteen minutes; each stands beside one planted row at most.
    """
    planted, incidents = _read(truth_csv), _read(incidents_csv)
    found = _matched(planted, incidents)
    rows = [_row(each, found.get(each["planted_id"])) for each in planted]
    taken = {incident["incident_id"] for incident in found.values()}
    rows += [_row(None, incident) for incident in incidents if incident["incident_id"] not in taken]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def score(frame: pl.DataFrame) -> dict[str, int]:
    """How many were planted, found, right, wrong with high or medium confidence, missed, and not planted."""
    verdict = frame["verdict"]
    is_wrong = (verdict == "no") & frame["confidence"].is_in(CONFIDENT)
    return {
        "planted": int((verdict != "extra").sum()),
        "found": int(verdict.is_in(("yes", "no")).sum()),
        "right": int((verdict == "yes").sum()),
        "wrong_confident": int(is_wrong.sum()),
        "missed": int((verdict == "missed").sum()),
        "extra": int((verdict == "extra").sum()),
    }


def _read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return sorted(csv.DictReader(file), key=lambda row: (row["started_at"], row.get("incident_id", "")))


def _matched(planted: Iterable[Row], incidents: Iterable[Row]) -> dict[str, Row]:
    """The incident of each planted row: first whatever shares a job with it, then what is near."""
    found: dict[str, Row] = {}
    taken: set[str] = set()
    for is_match in (_shares_job, _is_near):
        for each in (row for row in planted if row["planted_id"] not in found):
            fitting = (incident for incident in incidents if incident["incident_id"] not in taken and is_match(each, incident))
            best = min(fitting, key=lambda incident: _rank(each, incident), default=None)
            if best is not None:
                found[each["planted_id"]] = best
                taken.add(best["incident_id"])
    return found


def _rank(planted: Row, incident: Row) -> tuple[bool, timedelta, str]:
    """What is a failure or not as planted comes first, then what is nearer in time."""
    return incident["is_failure"] != planted["is_failure"], _distance(planted, incident), incident["incident_id"]


def _shares_job(planted: Row, incident: Row) -> bool:
    return bool(set(_items(planted["job_ids"])) & set(_items(incident["job_ids"])))


def _is_near(planted: Row, incident: Row) -> bool:
    nodes = {*_items(incident["nodes"]), *_items(incident["device_node"])}
    return planted["node"] in nodes and _distance(planted, incident) <= NEAR


def _distance(planted: Row, incident: Row) -> timedelta:
    if not incident["started_at"]:
        return timedelta.max
    return abs(datetime.fromisoformat(planted["started_at"]) - datetime.fromisoformat(incident["started_at"]))


def _items(cell: str) -> Iterator[str]:
    return (item for item in cell.split(";") if item)


def _row(planted: Row | None, incident: Row | None) -> tuple[object, ...]:
    """One row of the comparison, in the order of COLUMNS."""
    there, seen = planted or {}, incident or {}
    return (
        there.get("planted_id"),
        there.get("component"),
        there.get("expected_component"),
        there.get("expected_cause"),
        there.get("note"),
        seen.get("incident_id"),
        there.get("started_at") or seen.get("started_at"),
        there.get("node") or seen.get("nodes"),
        there.get("job_ids") or seen.get("job_ids"),
        seen.get("component"),
        seen.get("cause"),
        seen.get("confidence"),
        seen["device_serial"] == there["device_serial"] if seen and there.get("device_serial") else None,
        _verdict(planted, incident),
    )


def _verdict(planted: Row | None, incident: Row | None) -> str:
    if planted is None:
        return "extra"
    if incident is None:
        return "missed"
    is_counted = all(incident[flag] == planted[flag] for flag in ("is_failure", "is_planned"))
    is_named = planted["is_planned"] == "true" or incident["component"] == planted["expected_component"]
    return "yes" if is_counted and is_named else "no"
