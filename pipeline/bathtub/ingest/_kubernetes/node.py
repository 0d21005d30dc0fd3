"""Nodes: whether the cluster uses them, what their kubelet and their agents say of them, and their GPUs.

    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-03"}, "spec": {"unschedulable": true},
     "status": {"capacity": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "Unknown",
       "reason": "NodeStatusUnknown", "lastTransitionTime": "2026-03-01T08:00:00Z"}]}}

A node gives a row of `node_states` as of when the file was collected, one of `scheduler_events` per condition of any type
(node-problem-detector, the node agents of EKS and of HyperPod add theirs) and per health label of HyperPod, and one of
`gpu_faults` where AcceleratedHardwareReady is False for an Xid. A condition is seen when it took its status; one that does not
tell, and a label, when the file was collected.

The state is that of the condition Ready: READY, NOT_READY, NOT_POSTING (Unknown: the kubelet is silent). Its flags: CORDONED;
taints of the cluster by the last part of their keys (NOT_READY, UNREACHABLE); what the node lacks (MEMORY_PRESSURE); HyperPod's
health (UNSCHEDULABLE_PENDING_REBOOT, DEEP_HEALTH_CHECK_FAILED).

Flags: bad_reason_time, bad_time, bad_condition (one without a type is left out), repeated_condition (the first of a type holds).
Rejects: bad_object (without a name).
"""

import re
from collections.abc import Mapping

from bathtub.ingest._kubernetes import Kind, Thing, mapping, text
from bathtub.ingest._kubernetes._node_conditions import keep_conditions
from bathtub.ingest._kubernetes._node_facts import Condition, conditions, gpu_resources, hyperpod, n_gpus, taints
from bathtub.ingest._kubernetes._times import instant, is_unreadable
from bathtub.ingest._node_rows import snapshot, told
from bathtub.ingest._node_values import NodeState
from bathtub.ingest._rows import Collector, Row
from bathtub.schema import table
from bathtub.source import Source

STATES = {"True": "READY", "False": "NOT_READY", "Unknown": "NOT_POSTING"}
LACKS = frozenset({"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"})
# Memory|Pressure   PID|Pressure
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _word(name: str) -> str:
    return _HUMPS.sub("_", name).replace("-", "_").upper()


def _joined(*parts: str | None) -> str | None:
    return ": ".join(part for part in parts if part) or None


def _state_flags(thing: Thing, found: Mapping[str, Condition], labels: Mapping[str, str]) -> tuple[str, ...]:
    names = ["CORDONED"] if mapping(thing.fields.get("spec")).get("unschedulable") is True else []
    names += [_word(name) for name, _ in taints(thing)]
    names += [_word(name) for name, each in found.items() if name in LACKS and each.get("status") == "True"]
    health, deep = labels.get("node-health-status"), labels.get("deep-health-check-status")
    names += [_word(health)] if health else []
    names += [f"DEEP_HEALTH_CHECK_{_word(deep)}"] if deep else []
    return tuple(dict.fromkeys(names))


def _state(ready: Condition, flags: tuple[str, ...]) -> NodeState:
    status = text(ready.get("status"))
    if status is None:
        return NodeState(None, None, is_state_known=False, state_flags=flags)
    return NodeState(f"Ready={status}", STATES.get(status, status), status in STATES, flags)


def _reason(thing: Thing, ready: Condition, labels: Mapping[str, str]) -> tuple[str | None, object]:
    """Why the node is not in use, and since when as written: of Ready, else of the labels, else of a taint with a value."""
    if text(ready.get("status")) not in (None, "True"):
        return _joined(text(ready.get("reason")), text(ready.get("message"))), ready.get("lastTransitionTime")
    fault = _joined(labels.get("fault-types"), labels.get("fault-reasons"))
    tainted = ((f"{name}={value}", each.get("timeAdded")) for name, each in taints(thing) if (value := text(each.get("value"))))
    return (fault, None) if fault else next(tainted, (None, None))


def _state_row(thing: Thing, node: str, source: Source) -> Row:
    found, doubts = conditions(thing)
    labels, ready = hyperpod(thing), found.get("Ready", {})
    reason, written = _reason(thing, ready, labels)
    return {
        "line": thing.line,
        **snapshot(source),
        **told(_state(ready, _state_flags(thing, found, labels)), None, "kubernetes"),
        "node": node,
        "reason": reason,
        "reason_at": instant(written, source).at,
        "started_at": instant(ready.get("lastTransitionTime"), source).at,
        "n_gpus": n_gpus(thing),
        "gres": ",".join(f"{name}={count}" for name, count in gpu_resources(thing).items()) or None,
        "flags": ["bad_reason_time"] * is_unreadable(written, source) + doubts,
    }


def _keep(collector: Collector, thing: Thing) -> str | None:
    node = text(thing.metadata.get("name"))
    if node is None:
        return "bad_object"
    collector.keep("node_states", _state_row(thing, node, collector.source))
    keep_conditions(collector, thing, node)
    return None


KIND = Kind(frozenset({("", "Node")}), (table("node_states"), table("scheduler_events"), table("gpu_faults")), _keep)
