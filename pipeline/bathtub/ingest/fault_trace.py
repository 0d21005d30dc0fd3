"""Traces of faults as start and end events of nodes: `fault_trace.json` of InfiniteHBD (2024), or one of the same keys.

    [{"node_id": "6f0c-11", "event_time": 3.25, "event_type": "fault_start",
      "fault_type": {"Level": "Hardware Failure", "Class": "Fan", "Desc": "Speed Critical (Sensor)"}},
     {"node_id": "6f0c-11", "event_time": 4.5, "event_type": "fault_end",
      "fault_type": {"Level": "Hardware Failure", "Class": "Fan", "Desc": "Speed Critical (Sensor)"}}]

Times are days after an epoch that the file does not name: `epoch` in the configuration of its source, in the source's zone
where it has none of its own. A record is an event; a start and its end make one row, whose `line` is the number of the
start. Events are taken in order of time. A start is paired with the first end of its node and type, the first start with
the first end; without one it is open. A fault may last no time. What a class means is told by a knowledge table.

Not read: further keys. Limit: 64 MiB.

Rejects: not_an_object, bad_node, bad_event_time, bad_event_type, bad_fault_type, end_without_start.

Quarantine: epoch_required, zone_required, file_too_large, truncated_json, bad_json.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from blake3 import blake3

from bathtub.ingest import Batch, Format
from bathtub.ingest._json import objects, opening, shown
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import Stamp, checked, configured
from bathtub.schema import table
from bathtub.source import Quarantine, Source

LIMIT = 64 << 20
MAX_DAYS = 36525
KEYS = {("item", key) for key in ("node_id", "event_time", "event_type", "fault_type")}
EVENTS = ("fault_start", "fault_end")


@dataclass(frozen=True)
class Event:
    """A start or an end: the number of its record, its days after the epoch, and what it is of."""

    number: int
    days: Decimal
    is_end: bool
    node: str
    fault: tuple[str | None, str | None, str | None]
    raw: str


def _claims(head: bytes, _name: str) -> bool:
    return opening(head) >= KEYS


def _parse(source: Source) -> Iterator[Batch]:
    """The one batch of a trace."""
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    epoch = _epoch(source)
    batch = Collector(FORMAT.name, source)
    events, n_read = [], 0
    for n_read, found in enumerate(objects(source, "item"), start=1):
        event = _event(n_read, found)
        if isinstance(event, str):
            batch.reject(n_read, event, shown(found))
        else:
            events.append(event)
    _pair(sorted(events, key=lambda each: (each.days, each.is_end, each.number)), batch, epoch)
    batch.rejected.sort()
    yield batch.batch(n_read)


def _event(number: int, found: object) -> Event | str:
    """An event, or why a record is none."""
    if not isinstance(found, dict):
        return "not_an_object"
    node, days, fault = found.get("node_id"), found.get("event_time"), found.get("fault_type")
    if not isinstance(node, str) or not node.strip():
        return "bad_node"
    if isinstance(days, bool) or not isinstance(days, int | Decimal) or not -MAX_DAYS <= days <= MAX_DAYS:
        return "bad_event_time"
    if found.get("event_type") not in EVENTS:
        return "bad_event_type"
    if not isinstance(fault, dict):
        return "bad_fault_type"
    kind = tuple(_text(fault, key) for key in ("Level", "Class", "Desc"))
    return Event(number, Decimal(days), found["event_type"] == "fault_end", node.strip(), kind, shown(found))  # type: ignore[arg-type]


def _text(fault: Mapping[str, object], key: str) -> str | None:
    found = fault.get(key)
    return found.strip() or None if isinstance(found, str) else None


def _epoch(source: Source) -> datetime:
    epoch = configured(source.settings.epoch, source)
    if epoch is None:
        raise Quarantine("epoch_required", "its times are days after an epoch: name it as `epoch` of this source")
    return epoch


def _pair(events: list[Event], batch: Collector, epoch: datetime) -> None:
    """Keeps one row per start, in order of starts, and rejects ends that close nothing."""
    waiting: dict[object, deque[Event]] = {}
    ends: dict[int, Event] = {}
    for event in events:
        starts = waiting.setdefault((event.node, event.fault), deque())
        if not event.is_end:
            starts.append(event)
        elif starts:
            ends[starts.popleft().number] = event
        else:
            batch.reject(event.number, "end_without_start", event.raw)
    met: Counter[object] = Counter()
    for event in events:
        if not event.is_end:
            key = (event.node, str(event.days.normalize()), *event.fault)
            met[key] += 1
            _keep(event, ends.get(event.number), (*key, met[key]), batch, epoch)


def _keep(start: Event, end: Event | None, key: tuple[object, ...], batch: Collector, epoch: datetime) -> None:
    started_at = _instant(start, epoch)
    batch.kept += 1 if end is None else 2
    batch.keep(
        "fault_records",
        {
            "line": start.number,
            "seen_at": started_at,
            "time_source": "file",
            "time_quality": checked(Stamp(started_at, "derived"), batch.source).quality,
            "node": start.node,
            "started_at": started_at,
            "ended_at": None if end is None else _instant(end, epoch),
            **dict(zip(("level", "part", "text"), start.fault, strict=True)),
            "record_key": blake3(repr(key).encode()).hexdigest()[:16],
        },
    )


def _instant(event: Event, epoch: datetime) -> datetime:
    return epoch + timedelta(microseconds=int((event.days * 86_400_000_000).to_integral_value()))


FORMAT = Format("fault_trace", "1", "an event", (table("fault_records"),), _claims, _parse, rows_span_records=True)
