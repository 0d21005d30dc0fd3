"""Job controllers: what the jobs that pods belong to say of themselves, a row per condition.

    {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "train", "namespace": "lab", "uid": "9d42…"},
     "status": {"conditions": [{"type": "Restarting", "status": "True", "reason": "PyTorchJobRestarting", "message": "…",
        "lastTransitionTime": "2026-03-01T08:00:00Z", "lastUpdateTime": "2026-03-01T08:00:00Z"}]}}

Kubeflow (v1 and TrainJob), Job, JobSet, Workload of Kueue, RayCluster: a row of `scheduler_events` per type of condition, seen
when it took its status; one that does not tell when, at the collection of the file. Volcano's Job and RayJob have phases: each is
a condition of that name, True where it holds now. A type that is listed several times is one row: of the latest, with how often
it was entered and when first. Restarts that the object counts (Volcano, JobSet), and requeues of Kueue, are the `n_events` of
Restarting and Requeued, which are seen at the collection of the file where no condition tells of them.

Flags: bad_time; bad_condition (one without a type is left out), conditions_cut (more than 100 types).
Rejects: bad_object (without a name), bad_status (it or its conditions are of another type, or no condition has a type).
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime

from bathtub.ingest._kubernetes import Kind, Thing, items, mapping, number, text
from bathtub.ingest._kubernetes._conditions import condition_row
from bathtub.ingest._kubernetes._times import instant
from bathtub.ingest._rows import Collector, Row
from bathtub.schema import table
from bathtub.source import Source

KUBEFLOW = ("PyTorchJob", "MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
VOLCANO, RAY_JOB = ("batch.volcano.sh", "Job"), ("ray.io", "RayJob")
JOB_SET, WORKLOAD = ("jobset.x-k8s.io", "JobSet"), ("kueue.x-k8s.io", "Workload")
KINDS = frozenset(
    {
        *(("kubeflow.org", kind) for kind in KUBEFLOW),
        ("trainer.kubeflow.org", "TrainJob"),
        ("batch", "Job"),
        ("ray.io", "RayCluster"),
        JOB_SET,
        WORKLOAD,
        VOLCANO,
        RAY_JOB,
    }
)
COUNTS = {
    VOLCANO: (("retryCount",), "Restarting"),
    JOB_SET: (("restarts",), "Restarting"),
    WORKLOAD: (("requeueState", "count"), "Requeued"),
}
"""Where the status counts something, and the condition that it is the count of."""
MAX_CONDITIONS = 100

Fields = Mapping[str, object]


def _listed(thing: Thing, status: Fields) -> Iterator[tuple[str | None, Fields]]:
    """(type, condition) of the list of conditions; Volcano writes the phase as the status, and no type."""
    for each in items(status.get("conditions")):
        if (thing.group, thing.kind) == VOLCANO:
            yield text(each.get("status")), {**each, "status": None}
        else:
            yield text(each.get("type")), each


def _phases(thing: Thing, status: Fields) -> Iterator[tuple[str | None, Fields]]:
    """(phase, condition) of the phases that hold now."""
    if (thing.group, thing.kind) == VOLCANO:
        state = mapping(status.get("state"))
        yield text(state.get("phase")), {**state, "status": "True"}
    elif (thing.group, thing.kind) == RAY_JOB:
        said = {"status": "True", "reason": status.get("reason"), "message": status.get("message")}
        for key in ("jobDeploymentStatus", "jobStatus"):
            yield text(status.get(key)), {**said, "lastTransitionTime": status.get("endTime")}


def _by_type(thing: Thing, status: Fields, source: Source) -> dict[str, dict[datetime | None, Fields]]:
    """The conditions by type, and by when they took their status; what holds now is the last of its time."""
    found: dict[str, dict[datetime | None, Fields]] = {}
    for name, each in (*_listed(thing, status), *_phases(thing, status)):
        if name is not None:
            found.setdefault(name, {})[instant(each.get("lastTransitionTime"), source).at] = each
    return found


def _condition(name: str, told: Mapping[datetime | None, Fields], source: Source) -> Row:
    """The row of one type: of its latest condition."""
    times = sorted(at for at in told if at is not None)
    row = condition_row(name, told[times[-1] if times else None], source)
    return {**row, "first_at": times[0], "n_events": len(times)} if len(times) > 1 else row


def _counted(thing: Thing, status: Fields, rows: dict[str, Row], source: Source) -> None:
    """Puts what the object counts to the condition that it is the count of."""
    path, name = COUNTS.get((thing.group, thing.kind), ((), ""))
    count: object = status if path else None
    for key in path:
        count = mapping(count).get(key)
    n_events = number(count)
    if n_events is not None and n_events > 0:
        told = {**condition_row(name, {}, source), "raw": json.dumps({".".join(path): n_events})}
        rows[name] = {**rows.get(name, told), "n_events": n_events}


def _rows(thing: Thing, status: Fields, source: Source) -> Iterator[Row]:
    found = _by_type(thing, status, source)
    rows = {name: _condition(name, found[name], source) for name in list(found)[:MAX_CONDITIONS]}
    _counted(thing, status, rows, source)
    doubts = ["bad_condition"] * _has_bad(thing, status) + ["conditions_cut"] * (len(found) > MAX_CONDITIONS)
    about = {
        "line": thing.line,
        "object_kind": thing.kind,
        "namespace": text(thing.metadata.get("namespace")),
        "object_name": text(thing.metadata.get("name")),
        "object_uid": text(thing.metadata.get("uid")),
    }
    for row in rows.values():
        yield {**row, **about, "flags": [*_flags(row), *doubts]}


def _flags(row: Row) -> list[str]:
    flags = row["flags"]
    return flags if isinstance(flags, list) else []


def _has_bad(thing: Thing, status: Fields) -> bool:
    written = status.get("conditions")
    n_good = sum(1 for name, _ in _listed(thing, status) if name is not None)
    return isinstance(written, list) and n_good < len(written)


def _keep(collector: Collector, thing: Thing) -> str | None:
    if text(thing.metadata.get("name")) is None:
        return "bad_object"
    status = thing.fields.get("status")
    if not isinstance(status, Mapping | None):
        return "bad_status"
    rows = list(_rows(thing, mapping(status), collector.source))
    conditions = mapping(status).get("conditions")
    if not isinstance(conditions, list | None) or (conditions and not rows):
        return "bad_status"
    for row in rows:
        collector.keep("scheduler_events", row)
    return None


KIND = Kind(KINDS, (table("scheduler_events"),), _keep)
