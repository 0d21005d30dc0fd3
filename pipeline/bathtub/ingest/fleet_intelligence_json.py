"""JSON exports of the fleet intelligence agent: fleetint_logs_<date>_<time>.json, logs in the encoding of OTLP.

    {"resourceLogs": [{"resource": {"attributes": [{"key": "host.name", "value": {"stringValue": "node-a"}}]},
      "scopeLogs": [{"logRecords": [{"timeUnixNano": "1771629764000000000", "body": {"stringValue": "[Fatal] …"},
        "attributes": [{"key": "component", …}, {"key": "log_type", "value": {"stringValue": "event"}}, …]}]}]}]}

The severity is always INFO: the fields of an event are attributes. Numbers of `extra_info` are doubles; its
`device_uuid` holds a PCI address. Xid and SXid events are faults at or before their time; other events are states
`agent_event`, healths `component_health`; a health of the component that follows Xids shows that the node was watched for them
(`coverage`). `event_id` is new in every export and never read. The node is `host.name`.

A record is a log record; those of other log types are out of scope.
Rejects: xid_no_code, bad_record.
Quarantine: truncated_json, bad_json, file_too_large.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import Event, keep_event, mapping, seen_event, string
from bathtub.ingest._coverage import Coverage
from bathtub.ingest._json import objects, opening
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import Moment, observation
from bathtub.ingest._times import UNKNOWN, Stamp, checked
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("gpu_faults"), table("observations"), table("coverage"))
LIMIT = 256 << 20
DEPTH = 12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_NS = 4_102_444_800 * 10**9
HEALTHY = {"healthy": True, "unhealthy": False, "degraded": False}


def _claims(head: bytes, _name: str) -> bool:
    if b'"resourceLogs"' not in head or b'"log_type"' not in head:
        return False
    return ("", "resourceLogs") in opening(head) and b"fleet" in head


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _plain(value: object, depth: int = 0) -> object:
    """An OTLP value as a plain one; what is nested too deeply is null."""
    found = mapping(value)
    if depth > DEPTH:
        return None
    if "kvlistValue" in found:
        return _attributes(mapping(found["kvlistValue"]).get("values"), depth + 1)
    if "arrayValue" in found:
        return [_plain(each, depth + 1) for each in _items(mapping(found["arrayValue"]).get("values"))]
    plain = next((found[key] for key in ("stringValue", "intValue", "doubleValue", "boolValue") if key in found), None)
    return plain if isinstance(plain, (str, bool, int)) or plain is None else float(str(plain))


def _attributes(pairs: object, depth: int = 0) -> dict[str, object]:
    """Keys and values of a list of attributes."""
    return {
        str(pair["key"]): _plain(pair.get("value"), depth) for pair in _items(pairs) if isinstance(pair, dict) and "key" in pair
    }


def _moment(text: str | None, source: Source) -> Moment:
    """At or before the time of the agent."""
    nanoseconds = int(text) if text and text.isascii() and text.isdigit() and len(text) <= len(str(LAST_NS)) else 0
    if not 0 < nanoseconds < LAST_NS:
        return Moment(UNKNOWN, "poll", text)
    at = EPOCH + timedelta(microseconds=nanoseconds // 1000)
    return Moment(checked(Stamp(at, "observation"), source), "poll", text)


def _keep(collector: Collector, coverage: Coverage, line: int, record: Mapping[str, object], node: str | None) -> None:
    told = _attributes(record.get("attributes"))
    component, name, kind, reason = (string(told.get(key)) for key in ("component", "event_name", "event_type", "reason"))
    body, stamp = string(_plain(record.get("body"))), string(record.get("timeUnixNano"))
    message = string(told.get("message")) or body or ""
    raw = " ".join(filter(None, (stamp, component, name, kind, message)))
    moment = _moment(stamp, collector.source)
    event = Event(line, moment, node, component, name, kind, message, mapping(told.get("extra_info")), raw, "fleet_intelligence")
    if told.get("log_type") == "event":
        keep_event(collector, event)
    elif "health" in str(told.get("log_type")):
        health = string(told.get("health")) or kind
        columns = {"component_word": component, "value": health, "is_healthy": HEALTHY.get((health or "").lower())}
        row = observation(seen_event(event), 0, "component_health", message=reason or message or None, **columns)
        collector.keep("observations", row)
        collector.kept += 1
        if event.code_kind == "xid" and columns["is_healthy"] is not None:
            coverage.add(node, moment.stamp)


def _records(source: Source) -> Iterator[tuple[str | None, object]]:
    """(node, log record) of every record, in order."""
    for logs in objects(source, "resourceLogs.item"):
        named = _attributes(mapping(mapping(logs).get("resource")).get("attributes"))
        node = string(named.get("host.name")) or source.settings.node
        for scope in _items(mapping(logs).get("scopeLogs")):
            for record in _items(mapping(scope).get("logRecords")):
                yield node, record


def _parse(source: Source) -> Iterator[Batch]:
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    collector, coverage, read = Collector(FORMAT.name, source), Coverage(), 0
    for node, record in _records(source):
        read += 1
        if isinstance(record, dict):
            _keep(collector, coverage, read, record, node)
        else:
            collector.reject(read, "bad_record", str(record)[:200])
    for row in coverage.rows():
        collector.keep("coverage", row)
    yield collector.batch(read)


FORMAT = Format("fleet_intelligence_json", "2", "a log record", TABLES, _claims, _parse)
