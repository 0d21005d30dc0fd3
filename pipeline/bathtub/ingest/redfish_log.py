"""Event logs of a baseboard controller (BMC), as Redfish gives them: `…/LogServices/<name>/Entries` in JSON.

    {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": [
      {"@odata.type": "#LogEntry.v1_15_0.LogEntry", "Id": "7", "Created": "2026-01-02T03:04:07+00:00", "Severity": "Critical",
       "MessageId": "ResourceEvent.1.0.ResourceErrorsDetected", "Message": "The resource property 'GPU_SXM_3 Driver Event …",
       "MessageArgs": ["GPU_SXM_3 Driver Event Message", "[1767323045][12][0] XID 79 GPU has fallen off the bus."],
       "Links": {"OriginOfCondition": {"@odata.id": "/redfish/v1/Chassis/HGX_GPU_SXM_3"}}}]}

A page of a collection, several pages behind each other, a list of entries, one entry, or a line per entry. Every entry is a state
`agent_event`. One that carries an Xid or SXid is a fault besides: the driver's event as the controller copies it (NVIDIA/nsmd),
with `;` in place of `,` and cut short, or a whole line of the kernel in a vendor's text. It repeats the kernel's line, and the
SQL merges it. The GPU stands outside of the text, by its place (`GPU_SXM_3`): that is the state's `entity`, and the fault has no
address. `Created` is the controller's own clock, at or after the event; one that was never set (1970) tells nothing. There is no
host: the node comes from the configuration. `raw` is the entry without what changes later (`Resolved` and its kin), so that a
fault in two exports is one.

A record is an entry; members that are no more than links were not expanded.
Rejects: bad_json, bad_entry, link_only, xid_no_code.
Quarantine: truncated_json, bad_json, file_too_large, line_too_long, zone_required.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import Event, keep_fault, seen_event, string
from bathtub.ingest._json import objects, opening, shown
from bathtub.ingest._json_lines import first_object, json_lines
from bathtub.ingest._messages import Reject
from bathtub.ingest._redfish import entity_of, fault_of, texts_of
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS, Moment, observation
from bathtub.ingest._times import UNKNOWN, iso
from bathtub.schema import table
from bathtub.source import HEAD, Source

TABLES = (table("gpu_faults"), table("observations"))
LIMIT = 256 << 20
UNSET_YEAR = 1970
LATER = frozenset({"Resolved", "Modified", "ServiceProviderNotified", "@odata.etag"})
HEALTHY = {"ok": True, "warning": False, "critical": False}


def _claims(head: bytes, _name: str) -> bool:
    if b'"#LogEntry' not in head:
        return False
    keys = opening(head)
    is_page = b"#LogEntryCollection." in head and ("", "Members") in keys
    return is_page or any((path, "Created") in keys and (path, "EntryType") in keys for path in ("", "item"))


def _moment(written: str | None, source: Source) -> Moment:
    stamp = iso(written or "", source)
    if stamp.at is not None and stamp.at.year <= UNSET_YEAR:
        return Moment(UNKNOWN, "poll", written)
    return Moment(replace(stamp, quality="observation") if stamp.quality == "exact" else stamp, "poll", written)


def _raw(found: Mapping[str, object]) -> str:
    kept = {key: value for key, value in found.items() if key not in LATER}
    try:
        return json.dumps(kept, default=str, ensure_ascii=False)
    except RecursionError:
        return shown(kept)


def _keep(collector: Collector, line: int, found: Mapping[str, object]) -> None:
    message_id, severity, message = (string(found.get(key)) for key in ("MessageId", "Severity", "Message"))
    raw, texts = _raw(found), texts_of(found)
    if message_id is None and message is None:
        collector.reject(line, "link_only" if "@odata.id" in found else "bad_entry", raw)
        return
    said = fault_of(texts, message_id or "")
    if isinstance(said, Reject):
        collector.reject(line, said.reason, raw)
        return
    moment = _moment(string(found.get("Created")), collector.source)
    node = collector.source.settings.node
    event = Event(line, moment, node, None, message_id, severity, message or "", {}, raw, "redfish")
    kind = None if said is None else "xid" if said.get("xid") is not None else "sxid"
    words = {
        "check_name": message_id, "entity": entity_of(found, texts), "severity_word": severity, "message": message,
        "component_word": string(found.get("SensorType")), "action_word": string(found.get("Resolution")),
        "is_healthy": True if found.get("Resolved") is True else HEALTHY.get((severity or "").lower()),
        "code": said[kind] if said and kind else None, "code_kind": kind,
    }  # fmt: skip
    collector.keep("observations", observation(seen_event(event), 0, "agent_event", **words))
    if said is not None:
        keep_fault(collector, event, said)
    collector.kept += 1


def _entries(source: Source) -> Iterator[tuple[int, object, str]]:
    """(number, entry, text) of every entry in order; no text but that of a line."""
    start = next(source.chunks(HEAD), b"")
    if first_object(start) and "Members" not in first_object(start):
        yield from json_lines(source)
        return
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    is_list = start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    path = "item" if is_list else "Members.item" if ("", "Members") in opening(start) else ""
    for number, found in enumerate(objects(source, path), start=1):
        yield number, found, ""


def _parse(source: Source) -> Iterator[Batch]:
    collector, read = Collector(FORMAT.name, source), 0
    for number, found, text in _entries(source):
        read += 1
        if isinstance(found, dict):
            _keep(collector, number, found)
        else:
            collector.reject(number, "bad_json" if text else "bad_entry", text or str(found)[:200])
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("redfish_log", "1", "an entry", TABLES, _claims, _parse)
