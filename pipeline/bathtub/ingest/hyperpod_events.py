r"""Events of SageMaker HyperPod clusters as JSON: as EventBridge delivers them, and as the `aws` command prints them.

    {"source": "aws.sagemaker", "detail-type": "SageMaker HyperPod Cluster Event", "time": "2026-03-01T08:00:02Z",
     "detail": {"EventDetails": {"EventId": "7f3c…", "ClusterArn": "arn:aws:sagemaker:…:cluster/…", "ClusterName": "train",
       "InstanceGroupName": "p5", "InstanceId": "i-0a1b", "ResourceType": "Instance", "EventTime": 1772352001350,
       "EventLevel": "Error", "Description": "…"}}}

One document, several one after the other, JSON lines, or a list of them; `aws sagemaker list-cluster-events` prints
`{"Events": […]}` of bare events, `describe-cluster-event` an `{"EventDetails": …}`. Two further kinds come over EventBridge: a
`… Cluster Node Health Event` gives the condition HealthStatus of an instance, a `… Cluster State Change` the condition
ClusterStatus of the cluster. An event's node is its instance; in a cluster of EKS its node is called `hyperpod-<instance>`.

EventTime is milliseconds since the epoch in EventBridge, in the command's output seconds or ISO 8601; its magnitude decides, and
one in the other unit is flagged. An event without it has the time of its delivery.

Not read: what else the metadata of an event hold, repair action and recommendation of a node's health (both stand in `raw`).
A record is an event. Other events of EventBridge are out of scope.
Flags: bad_time, other_time_unit.
Rejects: bad_json (a line), bad_event.
Quarantine: bad_json, truncated_json, file_too_large, line_too_long.
"""

from collections.abc import Iterator

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._hyperpod import said, times, unwrapped
from bathtub.ingest._json import objects, opening, shown
from bathtub.ingest._json_lines import first_object, json_lines
from bathtub.ingest._kubernetes import mapping, text
from bathtub.ingest._rows import RAW_LIMIT, Collector
from bathtub.ingest._samples import BATCH_ROWS
from bathtub.schema import table
from bathtub.source import Source

KINDS = "SageMaker HyperPod Cluster "
WRAPPED, BARE = ("", "item"), ("", "item", "Events.item", "EventDetails")
PRINTED = ("EventId", "ClusterArn", "EventTime")
HEAD, LOOKED_AT, LIMIT = 65536, 20, 64 << 20


def _claims(head: bytes, _name: str) -> bool:
    if b"sagemaker" not in head:
        return False
    keys = opening(head)
    is_of_kind = f'"{KINDS}'.encode() in head
    is_delivered = is_of_kind and any({(path, "detail-type"), (path, "detail")} <= keys for path in WRAPPED)
    return is_delivered or any({(path, name) for name in PRINTED} <= keys for path in BARE)


def _keep(collector: Collector, line: int, found: object, raw: str) -> None:
    """The row of one record, or its reject. What is no event of HyperPod is out of scope."""
    delivered = mapping(found) if "detail-type" in mapping(found) else {}
    if delivered and not (text(delivered["detail-type"]) or "").startswith(KINDS):
        return
    event = unwrapped(mapping(found))
    uid = text(event.get("EventId")) or text(delivered.get("id"))
    if uid is None or (text(event.get("ClusterArn")) or text(event.get("ClusterName"))) is None:
        collector.reject(line, "bad_event", raw)
        return
    base = {"line": line, "node": text(event.get("InstanceId")), "raw": raw[:RAW_LIMIT], "event": "cluster_event"}
    base |= {"record_uid": uid, "reporter": "hyperpod"}
    collector.keep("scheduler_events", {**base, **times(event.get("EventTime"), delivered, collector.source), **said(event)})
    collector.kept += 1


def _records(source: Source) -> Iterator[tuple[int, object, str]]:
    """(line or number, value, text) of each record; None for a line that is no object. Raises Quarantine."""
    head = next(source.chunks(), b"")[:HEAD]
    is_array = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    path = "item" if is_array else "Events.item" if ("", "Events") in opening(head) else ""
    if not path and any(first_object(line).keys() & {"detail-type", "EventId"} for line in head.split(b"\n")[:LOOKED_AT]):
        yield from json_lines(source)
        return
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and {LIMIT} are read at most: write an event per line")
    for number, found in enumerate(objects(source, path), start=1):
        yield number, found or {}, shown(found)


def _parse(source: Source) -> Iterator[Batch]:
    collector, read = Collector(FORMAT.name, source), 0
    for line, found, raw in _records(source):
        read += 1
        if found is None:
            collector.reject(line, "bad_json", raw)
        else:
            _keep(collector, line, found, raw)
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("hyperpod_events", "1", "an event", (table("scheduler_events"),), _claims, _parse)
