"""Events of gpud's API (`/v1/events`), and its older NVML event objects, as JSON.

    [{"component": "accelerator-nvidia-error-xid", "startTime": "…", "endTime": "…", "events": [
      {"time": "2025-06-01T16:59:04Z", "name": "error_xid", "type": "Fatal",
       "message": "XID 79(GPU has fallen off the bus) detected on PCI:0000:04:00"}]}]

Xid and SXid events are faults. Their time is the kernel's, counted from boot and cut to whole seconds: `derived`. All
other events are states `agent_event`. An answer about Xids, also one without events, shows that the node was watched for
them on the day on which its time ends (`coverage`): whether the agent ran before, it does not say. An NVML object
(`nvml_event_type`) has no time but that of the poll; its code is one only for type 8 (999: one that NVML cannot name), for
every other type it is a state `nvml_event` (16: `clock_event`).

A record is an event.
Rejects: xid_no_code, bad_event.
Quarantine: truncated_json, bad_json, file_too_large, zone_required.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bathtub import knowledge
from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import (
    Event,
    code_kind_of,
    code_of,
    fault_columns,
    keep_event,
    keep_fault,
    mapping,
    seen_event,
    string,
)
from bathtub.ingest._coverage import Coverage
from bathtub.ingest._json import objects, opening
from bathtub.ingest._quantities import key_text
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS, Moment, observation
from bathtub.ingest._times import iso
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("gpu_faults"), table("observations"), table("coverage"))
LIMIT = 256 << 20
XID_EVENT, CLOCK_EVENT = 8, 16


def _claims(head: bytes, _name: str) -> bool:
    if b'"nvml_event_type"' not in head and b'"startTime"' not in head:
        return False
    keys = opening(head)
    is_api = {("item", "component"), ("item", "startTime"), ("item", "events")} <= keys
    is_nvml = any((path, "nvml_event_type") in keys and (path, "xid") in keys for path in ("", "item"))
    return is_api or is_nvml


def _moment(text: str | None, source: Source, quality: str) -> Moment:
    stamp = iso(text or "", source)
    return Moment(replace(stamp, quality=quality) if stamp.quality == "exact" else stamp, "poll", text)


def _told(found: Mapping[str, object], component: str | None, line: int, source: Source) -> Event:
    """One event of the API."""
    time, name, kind, message = (string(found.get(key)) for key in ("time", "name", "type", "message"))
    extra = mapping(found.get("extra_info") or found.get("extraInfo"))
    raw = " ".join(filter(None, (time, component, name, kind, message)))
    return Event(
        line, _moment(time, source, "derived"), source.settings.node, component, name, kind, message or "", extra, raw, "gpud"
    )


def _nvml(collector: Collector, found: Mapping[str, object], line: int) -> None:
    """The rows of one object of the NVML event loop."""
    time, uuid = string(found.get("time")), string(found.get("device_uuid"))
    event_type, data = code_of(found.get("nvml_event_type")), code_of(found.get("xid"))
    raw = " ".join(f"{key}={found[key]}" for key in sorted(found) if isinstance(found[key], (str, int)))
    moment = _moment(time, collector.source, "observation")
    event = Event(line, moment, collector.source.settings.node, None, None, None, "", {}, raw, "gpud")
    if event_type is None:
        collector.reject(line, "bad_event", raw)
        return
    collector.kept += 1
    if event_type == XID_EVENT and data:
        columns = fault_columns("", {"data": {"xid": data}, "device_uuid": uuid}, "xid")
        keep_fault(collector, event, columns or {})
        return
    names = dict(knowledge.tables()["nvml_events"].select("event_type", "event").iter_rows())
    seen = seen_event(event, {"device_uuid": key_text(uuid)})
    kind = "clock_event" if event_type == CLOCK_EVENT else "nvml_event"
    told = observation(seen, 0, kind, check_name=names.get(str(event_type)), code=event_type, code_kind="nvml_event")
    collector.keep("observations", told)


def _events(source: Source, path: str, coverage: Coverage) -> Iterator[tuple[str | None, object]]:
    """(component, event) of the API; (None, object) of the NVML loop and of what is neither."""
    for found in objects(source, path):
        events = mapping(found).get("events")
        if isinstance(found, dict) and "events" in found:
            component = string(found.get("component"))
            if code_kind_of(component or "") == "xid":
                coverage.add(source.settings.node, iso(string(found.get("endTime")) or "", source))
            for each in events if isinstance(events, list) else []:
                yield component, each
        else:
            yield None, found


def _parse(source: Source) -> Iterator[Batch]:
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    first = next(source.chunks(), b"").lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    collector, coverage, read, done = Collector(FORMAT.name, source), Coverage(), 0, 0
    for component, found in _events(source, "item" if first == b"[" else "", coverage):
        read, done = read + 1, done + 1
        if not isinstance(found, dict):
            collector.reject(done, "bad_event", str(found)[:200])
        elif "nvml_event_type" in found:
            _nvml(collector, found, done)
        else:
            keep_event(collector, _told(found, component, done, source))
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    for row in coverage.rows():
        collector.keep("coverage", row)
    yield collector.batch(read)


FORMAT = Format("gpud_events", "2", "an event", TABLES, _claims, _parse)
