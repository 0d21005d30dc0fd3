"""Health checks of gcm as its file sink writes them: JSON lines, one per check and run.

    {"int": {"result": 2, "job_id": 0}, "double": {"start_time": 1760000000.25, "end_time": 1760000001.5},
     "normal": {"node": "node-a", "cluster": "c1", "health_check": "xid errors", "type": "nagios",
                "_msg": "XID error: 31, XID causes: Driver Error. "}, "tags": {}}

Each run reads the whole kernel log again: a row is a state, and equal states in a row (of one node, check, result and
message) become one, with its interval and how often it was seen; its job is null where there were several. Results:
0 OK, 1 warning, 2 critical, 3 unknown.
The Xid check names no GPU and no time: a state per code, never a fault, so that its runs cover no day either;
`XID error: None` is a line that it could not read. Null fields are left out; job 0 is none. `seen_at` is the first start.

A record is a line.
Rejects: bad_json, bad_record.
Quarantine: line_too_long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

from bathtub.ingest import Batch, Format
from bathtub.ingest._agents import code_of, mapping, string
from bathtub.ingest._json_lines import first_object, json_lines
from bathtub.ingest._quantities import index
from bathtub.ingest._rows import RAW_LIMIT, Collector
from bathtub.ingest._samples import BATCH_ROWS
from bathtub.ingest._times import UNKNOWN, Stamp, checked
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("observations"),)
RESULTS = {0: "ok", 1: "warning", 2: "critical", 3: "unknown"}
HEALTHY = {0: True, 1: False, 2: False}
LAST_S = 4_102_444_800
MAX_CODES = 64
MAX_OPEN = 65536
# non-critical XID error: 31, XID causes: Driver Error, HW Error, User App Error.
_XID = re.compile(r"XID error: (\d{1,9}|None)\b")


@dataclass
class Interval:
    """Equal states in a row: the first line, and how far they go."""

    line: int
    raw: str
    state: tuple[object, ...]
    first: Stamp
    written: str | None
    last_at: datetime | None
    job_id: str | None
    n_seen: int = 1


def _claims(head: bytes, _name: str) -> bool:
    if b'"health_check"' not in head:
        return False
    found = first_object(head)
    return isinstance(found.get("int"), dict) and "health_check" in mapping(found.get("normal"))


def _stamp(value: object, source: Source) -> Stamp:
    """Seconds since the epoch, at which the check ran: what it saw was there at or before."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or not 0 < value < LAST_S:
        return UNKNOWN
    return checked(Stamp(datetime.fromtimestamp(value, UTC), "observation"), source)


def _close(collector: Collector, interval: Interval) -> None:
    """The rows of an interval: one per Xid that its message names, else one."""
    node, check, kind, gpu, result, message = interval.state
    codes = list(dict.fromkeys(_XID.findall(str(message or ""))))[:MAX_CODES]
    for nth, code in enumerate(codes or [None]):
        number = code_of(code)
        row = {
            "line": interval.line, "seen_at": interval.first.at, "time_source": "poll", "time_quality": interval.first.quality,
            "seen_at_raw": interval.written, "node": node, "raw": interval.raw[:RAW_LIMIT], "nth": nth, "kind": "health_check",
            "tool": "gcm", "check_name": check, "gpu_index": gpu, "value": RESULTS.get(code_of(result) or 0, str(result)),
            "code": number, "code_kind": "xid" if number is not None else None, "component_word": kind, "message": message,
            "is_healthy": HEALTHY.get(code_of(result) or 0), "job_id": interval.job_id, "first_at": interval.first.at,
            "last_at": interval.last_at, "n_seen": interval.n_seen, "flags": ["xid_no_code"] if code == "None" else [],
        }  # fmt: skip
        collector.keep("observations", row)


def _keep(
    collector: Collector, opened: dict[tuple[object, ...], Interval], line: int, found: dict[str, object], raw: str
) -> None:
    whole, texts, times = (mapping(found.get(key)) for key in ("int", "normal", "double"))
    node = string(texts.get("node")) or collector.source.settings.node
    check, kind, message = (string(texts.get(key)) for key in ("health_check", "type", "_msg"))
    result = code_of(whole.get("result"))
    if check is None or result is None:
        collector.reject(line, "bad_record", raw)
        return
    collector.kept += 1
    gpu = index(string(whole.get("gpu_index")))
    job_id = string(whole.get("job_id")) if whole.get("job_id") else None
    state = (node, check, kind, gpu, result, message)
    begun, ended = _stamp(times.get("start_time"), collector.source), _stamp(times.get("end_time"), collector.source)
    before = opened.get(state[:4])
    if before is not None and before.state == state:
        before.n_seen += 1
        before.job_id = job_id if before.job_id == job_id else None
        before.last_at = ended.at or begun.at or before.last_at
        return
    if before is not None:
        _close(collector, opened.pop(state[:4]))
    if len(opened) >= MAX_OPEN:
        _close(collector, opened.pop(next(iter(opened))))
    opened[state[:4]] = Interval(line, raw, state, begun, string(times.get("start_time")), ended.at or begun.at, job_id)


def _parse(source: Source) -> Iterator[Batch]:
    collector, read, opened = Collector(FORMAT.name, source), 0, dict[tuple[object, ...], Interval]()
    for line, found, text in json_lines(source):
        read += 1
        if found is None:
            collector.reject(line, "bad_json", text)
        else:
            _keep(collector, opened, line, found, text)
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    for interval in sorted(opened.values(), key=lambda each: each.line):
        _close(collector, interval)
    yield collector.batch(read)


FORMAT = Format("gcm_health", "1", "a line", TABLES, _claims, _parse)
