"""CSV exports of the fleet intelligence agent: fleetint_{events,metrics,component_health,machine_info}_<date>_<time>.csv.

    timestamp,component,event_name,event_type,message
    2026-02-20T23:22:44Z,accelerator-nvidia-error-xid,error_xid,Fatal,XID 79 … detected on GPU PCI:0000:04:00 UUID:GPU-5f0c…
    timestamp,component,metric_name,value,labels           timestamp,component_name,health,reason

There is no code, GPU or host column: code and GPU are parsed from the message, the node is the configured one (a folder).
Xid and SXid events are faults at or before their time (whole seconds); other events are states `agent_event`, metrics
`metric`, healths `component_health`, machine information `machine_info`. A health of the component that follows Xids shows that
the node was watched for them (`coverage`). Exports overlap: equal rows are one, by
content. A file is written only where it has rows: no file is not "no events" unless another file of the run is there.

A record is a row, which may span lines.
Rejects: field_count, xid_no_code, bad_time.
Quarantine: bad_csv, file_too_large, zone_required.
"""

from collections.abc import Iterator, Mapping

from bathtub.ingest import Batch, Format
from bathtub.ingest._agents import Event, code_kind_of, decoded, keep_event, mapping, seen_event, string
from bathtub.ingest._coverage import Coverage
from bathtub.ingest._handwritten import Record, first_line, header_of, records
from bathtub.ingest._quantities import device
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import Moment, observation
from bathtub.ingest._times import Stamp, iso
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("gpu_faults"), table("observations"), table("coverage"))
EVENTS = ("timestamp", "component", "event_name", "event_type", "message")
METRICS = ("timestamp", "component", "metric_name", "value", "labels")
HEALTH = ("timestamp", "component_name", "health", "reason")
MACHINE = ("attribute_name", "attribute_value")
HEALTHY = {"healthy": True, "unhealthy": False, "degraded": False}


def _claims(head: bytes, _name: str) -> bool:
    return header_of(first_line(head.decode("utf-8", "replace")))[0] in (EVENTS, METRICS, HEALTH, MACHINE)


def _moment(text: str | None, source: Source) -> Moment:
    """At or before the time of the agent; without one, when the file was collected."""
    stamp = Stamp(source.collected_at, "observation") if text is None else iso(text, source)
    quality = "observation" if stamp.quality == "exact" else stamp.quality
    return Moment(Stamp(stamp.at, quality, stamp.zone_assumed), "file" if text is None else "poll", text)


def _event(record: Record, source: Source, moment: Moment) -> Event:
    told = {name: record.text(name) for name in ("component", "event_name", "event_type", "message")}
    return Event(
        line=record.line,
        moment=moment,
        node=source.settings.node,
        component=told["component"],
        name=told["event_name"],
        kind=told["event_type"],
        message=told["message"] or "",
        extra={},
        raw=record.raw,
        tool="fleet_intelligence",
    )


def _state(record: Record) -> tuple[str, Mapping[str, object], Mapping[str, object]]:
    """(kind, columns of the state, columns of the device) of a row that is no event."""
    if "metric_name" in record.cells:
        labels = mapping(decoded(record.text("labels") or "{}"))
        named = device(string(labels.get("pci_bus_id")), string(labels.get("uuid")), None, string(labels.get("gpu")))
        told = {"check_name": record.text("metric_name"), "value": record.text("value"), "message": record.text("labels")}
        return "metric", {**told, "component_word": record.text("component")}, named
    if "attribute_name" in record.cells:
        return "machine_info", {"check_name": record.text("attribute_name"), "value": record.text("attribute_value")}, {}
    health, reason = record.text("health"), record.text("reason")
    columns = {
        "component_word": record.text("component_name"),
        "value": health,
        "message": None if reason == "N/A" else reason,
        "is_healthy": HEALTHY.get((health or "").lower()),
    }
    return "component_health", columns, {}


def _record(collector: Collector, coverage: Coverage, record: Record) -> None:
    has_time = "timestamp" in record.cells
    moment = _moment(record.text("timestamp"), collector.source) if record.is_complete else None
    if moment is None:
        collector.reject(record.line, "field_count", record.raw)
    elif moment.stamp.at is None or (has_time and moment.time_source == "file"):
        collector.reject(record.line, "bad_time", record.raw)
    elif "event_name" in record.cells:
        keep_event(collector, _event(record, collector.source, moment))
    else:
        kind, columns, named = _state(record)
        event = _event(record, collector.source, moment)
        collector.keep("observations", observation(seen_event(event, named), 0, kind, **columns))
        collector.kept += 1
        if code_kind_of(str(columns.get("component_word"))) == "xid" and columns.get("is_healthy") is not None:
            coverage.add(event.node, moment.stamp)


def _parse(source: Source) -> Iterator[Batch]:
    """The one batch of an export."""
    collector, coverage, read = Collector(FORMAT.name, source), Coverage(), 0
    for record in records(source):
        read += 1
        _record(collector, coverage, record)
    for row in coverage.rows():
        collector.keep("coverage", row)
    yield collector.batch(read)


FORMAT = Format("fleet_intelligence_csv", "2", "a row", TABLES, _claims, _parse)
