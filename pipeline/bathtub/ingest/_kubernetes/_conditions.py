"""Rows of conditions: what an object says of itself, since when."""

import json
from collections.abc import Mapping

from bathtub.ingest._kubernetes import text
from bathtub.ingest._kubernetes._times import instant, is_unreadable
from bathtub.ingest._node_rows import snapshot
from bathtub.ingest._rows import RAW_LIMIT, Row
from bathtub.source import Source

LAST = ("lastHeartbeatTime", "lastUpdateTime", "lastProbeTime")
"""When a condition was last confirmed: the first of them that is told."""


def since(condition: Mapping[str, object], source: Source) -> tuple[Row, list[str]]:
    """The columns of a condition's time (when the file was collected, where it tells none), and what is doubtful about it."""
    written = condition.get("lastTransitionTime")
    stamp, doubts = instant(written, source), ["bad_time"] * is_unreadable(written, source)
    if stamp.at is None:
        return {**snapshot(source), "seen_at_raw": text(written)}, doubts
    told = {"seen_at": stamp.at, "time_source": "scheduler", "time_quality": stamp.quality}
    return {**told, "seen_at_raw": text(written)}, doubts


def condition_row(name: str, condition: Mapping[str, object], source: Source) -> Row:
    """The columns of `scheduler_events` that a condition fills, but for the object it is about."""
    times, doubts = since(condition, source)
    said = {key: value for key, value in condition.items() if isinstance(key, str) and isinstance(value, str)}
    confirmed = (instant(condition.get(key), source).at for key in LAST)
    return {
        **times,
        "event": "object_condition",
        "raw": json.dumps(said)[:RAW_LIMIT],
        "condition": name,
        "condition_status": text(condition.get("status")),
        "reason": text(condition.get("reason")),
        "text": text(condition.get("message")) or "",
        "last_at": next((at for at in confirmed if at is not None), None),
        "flags": doubts,
    }
