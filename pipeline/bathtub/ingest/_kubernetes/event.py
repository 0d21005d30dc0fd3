"""Events of both groups (core and events.k8s.io), and the faults that agents on the nodes tell in them.

The time is that of the last occurrence; where the event has none, of the only one, of the first, or that at which the event
was created (`observation`: at or before). Scheduler and controllers of today fill `eventTime` alone, kubelets and older ones
first and last. A re-export has the same `record_uid` and a higher count.

An event about a node whose message is a line of the kernel (the node problem detector copies it) gives the fault that its
grammar reads; one whose reason names an Xid (the node monitoring agent of EKS) gives a fault without a kernel line. Such a
fault was there at the time of the event or before it: `observation`.

Flags: no_object; bad_time (something is written there that is no time); bad_kernel_line (the message looks like a fault and
cannot be read); of faults, aggregated: the event counts several, and the time is that of the last.
"""

from collections.abc import Iterator, Mapping

from bathtub.ingest._kubernetes import Kind, Thing, mapping, number, text
from bathtub.ingest._kubernetes._agents import xid_columns
from bathtub.ingest._kubernetes._times import instant, is_unreadable
from bathtub.ingest._messages import Reject, interpret
from bathtub.ingest._rows import Collector, Row
from bathtub.ingest._times import UNKNOWN, Stamp
from bathtub.schema import table
from bathtub.source import Source

FAULT_TABLES = ("gpu_faults", "host_faults")
COMBINED = "(combined from similar events): "
LAST = (("series", "lastObservedTime"), ("lastTimestamp",), ("deprecatedLastTimestamp",))
FIRST = (("firstTimestamp",), ("deprecatedFirstTimestamp",))
ONLY = (("eventTime",),)
CREATED = ("metadata", "creationTimestamp")
TIMES = (*LAST, *ONLY, *FIRST, CREATED)
COUNTS = (("count",), ("series", "count"), ("deprecatedCount",))
REPORTERS = (
    ("reportingComponent",),
    ("reportingController",),
    ("source", "component"),
    ("deprecatedSource", "component"),
)
HOSTS = (("source", "host"), ("deprecatedSource", "host"))

Path = tuple[str, ...]


def _at(fields: Mapping[str, object], path: Path) -> object:
    *outer, last = path
    for name in outer:
        fields = mapping(fields.get(name))
    return fields.get(last)


def _texts(thing: Thing, paths: tuple[Path, ...]) -> Iterator[str]:
    """The texts at some paths that are not blank."""
    return (found for path in paths if (found := text(_at(thing.fields, path))) is not None)


def _time(thing: Thing, paths: tuple[Path, ...], source: Source) -> tuple[Stamp, str | None]:
    """The first of some times that can be read, and its text."""
    for path in paths:
        written = _at(thing.fields, path)
        stamp = instant(written, source)
        if stamp.at is not None:
            is_created = path == CREATED and stamp.quality == "exact"
            return (Stamp(stamp.at, "observation") if is_created else stamp), text(written)
    return UNKNOWN, None


def _about(thing: Thing) -> Mapping[str, object]:
    """The object that the event is about."""
    return mapping(thing.fields.get("involvedObject")) or mapping(thing.fields.get("regarding"))


def _count(thing: Thing) -> int | None:
    """How often it happened: the highest of the counts, of which a new one may not be told to old fields."""
    counts = (number(_at(thing.fields, path)) for path in COUNTS)
    return max((count for count in counts if count is not None and count > 0), default=None)


def _node(thing: Thing, reporter: str | None) -> str | None:
    """The node that the event is about, else the one whose agent reports it."""
    about = _about(thing)
    if about.get("kind") == "Node" and (name := text(about.get("name"))) is not None:
        return name
    instance = text(thing.fields.get("reportingInstance")) if reporter == "kubelet" else None
    return next(_texts(thing, HOSTS), instance)


def _row(thing: Thing, source: Source) -> dict[str, object]:
    """The row of `scheduler_events`."""
    stamp, written = _time(thing, TIMES, source)
    about, reporter = _about(thing), next(_texts(thing, REPORTERS), None)
    is_series = bool(mapping(thing.fields.get("series")))
    return {
        "line": thing.line,
        "seen_at": stamp.at,
        "time_source": "scheduler",
        "time_quality": stamp.quality,
        "seen_at_raw": written,
        "node": _node(thing, reporter),
        "raw": thing.raw,
        "event": "object_event",
        "reason": text(thing.fields.get("reason")),
        "text": text(thing.fields.get("message")) or text(thing.fields.get("note")) or "",
        "record_uid": text(thing.metadata.get("uid")),
        "object_kind": text(about.get("kind")),
        "namespace": text(about.get("namespace")),
        "object_name": text(about.get("name")),
        "object_uid": text(about.get("uid")),
        "event_type": text(thing.fields.get("type")),
        "reporter": reporter,
        "n_events": _count(thing),
        "first_at": _time(thing, (*FIRST, *ONLY), source)[0].at,
        "last_at": _time(thing, LAST if is_series else (*LAST, *ONLY), source)[0].at,
    }


def _flags(thing: Thing, source: Source) -> list[str]:
    about = _about(thing)
    has_object = text(about.get("kind")) is not None and text(about.get("name")) is not None
    is_bad = any(is_unreadable(_at(thing.fields, path), source) for path in TIMES)
    return ["no_object"] * (not has_object) + ["bad_time"] * is_bad


def _faults(reason: str | None, message: str) -> tuple[dict[str, Row], list[str]]:
    """The own columns of the faults that an event about a node tells, by table, and flags of the event."""
    xid = xid_columns(reason, message or None)
    found: dict[str, Row] = {} if xid is None else {"gpu_faults": xid}
    said = interpret("kernel", message, {})
    if said is None or said[0].table.name not in FAULT_TABLES:
        return found, []
    grammar, told = said
    if isinstance(told, Reject):
        return found, ["bad_kernel_line"]
    return found | ({grammar.table.name: told} if isinstance(told, Mapping) else {}), []


def _keep(collector: Collector, thing: Thing) -> None:
    row, flags = _row(thing, collector.source), _flags(thing, collector.source)
    faults: dict[str, Row] = {}
    if row["object_kind"] == "Node":
        faults, more = _faults(text(thing.fields.get("reason")), str(row["text"]).removeprefix(COMBINED))
        flags += more
    collector.keep("scheduler_events", {**row, "flags": flags})
    for name, told in faults.items():
        collector.keep(name, _fault(row, told, _count(thing)))


def _fault(event: Row, told: Row, count: int | None) -> Row:
    """A fault that an event tells. Its raw text is the message, so that every export of the event shows the same line."""
    shared = {name: event[name] for name in ("line", "seen_at", "seen_at_raw", "node")}
    quality = "observation" if event["time_quality"] == "exact" else event["time_quality"]
    row = {**shared, "time_source": "poll", "time_quality": quality, "raw": event["text"], **told}
    flags = told["flags"]
    is_many = count is not None and count > 1
    return {**row, "flags": [*flags, "aggregated"]} if is_many and isinstance(flags, list) else row


KIND = Kind(
    frozenset({("", "Event"), ("events.k8s.io", "Event")}),
    (table("scheduler_events"), *(table(name) for name in FAULT_TABLES)),
    _keep,
)
