"""Rows of what a node's kubelet and agents say of it: its conditions, HyperPod's labels, the Xid behind GPUs out of use."""

import json
from collections.abc import Iterator

from bathtub.ingest._kubernetes import Thing, text
from bathtub.ingest._kubernetes._agents import xid_columns
from bathtub.ingest._kubernetes._conditions import condition_row, since
from bathtub.ingest._kubernetes._node_facts import Condition, conditions, hyperpod
from bathtub.ingest._node_rows import snapshot
from bathtub.ingest._rows import RAW_LIMIT, Collector, Row
from bathtub.source import Source

GPU_CONDITION = "AcceleratedHardwareReady"


def _label_rows(thing: Thing, source: Source) -> Iterator[Row]:
    """HyperPod's labels as conditions. The faults are why the node's health is what it is, told or not."""
    labels = hyperpod(thing)
    common = {**snapshot(source), "reporter": "hyperpod", "raw": json.dumps(labels)[:RAW_LIMIT], "flags": []}
    if labels.keys() - {"deep-health-check-status"}:
        faults = {"reason": labels.get("fault-types"), "text": labels.get("fault-reasons") or ""}
        yield {**common, "condition": "node-health-status", "condition_status": labels.get("node-health-status"), **faults}
    if "deep-health-check-status" in labels:
        deep = {"condition": "deep-health-check-status", "condition_status": labels["deep-health-check-status"]}
        yield {**common, **deep, "text": ""}


def _keep_fault(collector: Collector, thing: Thing, node: str, condition: Condition) -> None:
    """The Xid of a node whose GPUs are out of use: it came before its condition.

    `raw` has no heartbeat, and is the same in every later export.
    """
    reason, message = text(condition.get("reason")), text(condition.get("message"))
    times, doubts = since(condition, collector.source)
    columns = xid_columns(reason, message, doubts)
    if columns is not None and text(condition.get("status")) == "False":
        raw = f"{GPU_CONDITION}=False {reason}: {message or ''}"[:RAW_LIMIT]
        quality = "observation" if times["time_quality"] == "exact" else times["time_quality"]
        collector.keep("gpu_faults", {"line": thing.line, "node": node, **times, "time_quality": quality, "raw": raw, **columns})


def keep_conditions(collector: Collector, thing: Thing, node: str) -> None:
    """The rows of one node: of `scheduler_events`, one for each condition and label, and of `gpu_faults`, one at most."""
    found, _ = conditions(thing)
    rows = [condition_row(name, each, collector.source) for name, each in found.items()]
    rows += [row for row in _label_rows(thing, collector.source) if row["condition"] not in found]
    uid = text(thing.metadata.get("uid"))
    about = {"object_kind": "Node", "object_name": node, "object_uid": uid}
    for row in rows:
        collector.keep("scheduler_events", {"line": thing.line, "node": node, "event": "object_condition", **about, **row})
    _keep_fault(collector, thing, node, found.get(GPU_CONDITION, {}))
