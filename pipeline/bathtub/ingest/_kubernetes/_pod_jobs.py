"""Which job a pod belongs to: what runs and ends as one, and the pod's place in it."""

from collections.abc import Mapping
from dataclasses import dataclass

from bathtub.ingest._kubernetes import Thing, items, mapping, text

TRAINING = "training.kubeflow.org/"
LEGACY = "job-name"
JOB_LABELS = (
    (TRAINING + "job-name", "Job", (TRAINING + "replica-type", TRAINING + "replica-index")),
    ("ray.io/cluster", "RayCluster", ("ray.io/node-type", "ray.io/group")),
    (
        "jobset.sigs.k8s.io/jobset-name",
        "JobSet",
        ("jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index", "batch.kubernetes.io/job-completion-index"),
    ),
    ("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet", ("leaderworkerset.sigs.k8s.io/worker-index",)),
    ("volcano.sh/job-name", "Job", ("volcano.sh/task-spec", "volcano.sh/task-index")),
    ("batch.kubernetes.io/job-name", "Job", ("batch.kubernetes.io/job-completion-index",)),
    (LEGACY, "Job", ("batch.kubernetes.io/job-completion-index", "replica-type", "replica-index")),
)
"""(label of the job's name, kind of such a job, labels of the pod's place in it); the outer job of nested ones comes first."""
OPERATORS = {
    "pytorchjob-controller": "PyTorchJob",
    "tfjob-controller": "TFJob",
    "mpijob-controller": "MPIJob",
    "mpi-operator": "MPIJob",
    "xgboostjob-controller": "XGBoostJob",
    "paddlejob-controller": "PaddleJob",
    "jaxjob-controller": "JAXJob",
}
"""Kinds by the label of the operator: the launcher of an MPIJob is owned by a Job of its own."""
GROUP = "leaderworkerset.sigs.k8s.io/group-index"
SERVICES = frozenset({"ReplicaSet", "ReplicationController", "Deployment", "DaemonSet", "StatefulSet", "Node"})
"""Owners that keep pods running: their pods do not end as one."""


@dataclass(frozen=True)
class PodJob:
    """The job of a pod: its name, its id, and the pod's place in it; all null where the pod has none."""

    name: str | None = None
    gang_id: str | None = None
    task: str | None = None


def job_of(thing: Thing) -> PodJob:
    """The job that labels name, else the pod's controlling owner where it is no service."""
    told = {**mapping(thing.metadata.get("annotations")), **mapping(thing.metadata.get("labels"))}
    owner_kind, owner_name = _owner(thing)
    for label, kind, places in JOB_LABELS:
        name = text(told.get(label))
        if name is None or (label == LEGACY and name != owner_name):
            continue
        is_own = name == owner_name and owner_kind is not None
        operated = OPERATORS.get(text(told.get(TRAINING + "operator-name")) or "")
        return PodJob(name, _gang(thing, operated or (owner_kind if is_own else None) or kind, name, told), _joined(told, places))
    if owner_kind is None or owner_name is None or owner_kind in SERVICES:
        return PodJob()
    return PodJob(owner_name, _gang(thing, owner_kind, owner_name, {}))


def _owner(thing: Thing) -> tuple[str | None, str | None]:
    """Kind and name of the controlling owner."""
    owners = (each for each in items(thing.metadata.get("ownerReferences")) if each.get("controller") is True)
    owner = next(owners, {})
    return text(owner.get("kind")), text(owner.get("name"))


def _gang(thing: Thing, kind: str, name: str, told: Mapping[str, object]) -> str:
    """The id of what ends as one: a LeaderWorkerSet restarts group by group."""
    group = text(told.get(GROUP)) if kind == "LeaderWorkerSet" else None
    parts = (text(thing.metadata.get("namespace")), kind, name if group is None else f"{name}-{group}")
    return "/".join(part for part in parts if part)


def _joined(told: Mapping[str, object], places: tuple[str, ...]) -> str | None:
    return "-".join(part for place in places if (part := text(told.get(place)))) or None
