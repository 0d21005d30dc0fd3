"""Pods: the runs of their main container as attempts, and those of all containers as steps.

    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-worker-1", "namespace": "lab", "uid": "7c31…",
       "creationTimestamp": "2026-03-01T08:00:00Z", "labels": {"training.kubeflow.org/job-name": "train", …}},
     "spec": {"nodeName": "gpu-03", "containers": [{"name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
     "status": {"phase": "Failed", "containerStatuses": [{"name": "pytorch", "restartCount": 0, "state": {"terminated":
       {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-03-01T08:00:09Z", "finishedAt": "2026-03-01T09:10:11Z"}}}]}}

An attempt is a run of the main container: the first that asks for a GPU (`<vendor>/gpu`, slices and shares too), else the first.
A pod tells its last run and the one before; earlier ones are lost (`restarts` tells how many there were). Run 0 is submitted when
the pod is created, a restart in place when it starts: so the key (uid, submitted_at) is the same in every export.

The state is the cluster's own word: of a pod that is over its reason (Evicted, NodeLost, …), else why the cluster took it from
its node (DeletionByTaintManager, …), else the end of the main container (OOMKilled; Error is Failed and Completed Succeeded), of
another that failed, or the phase; of a run that ended while its pod goes on, that of its container. A pod that is deleted before
it ends is Terminating. One that was given up (deleted, and taken from its node) is over as of then, even where no kubelet tells.

What it belongs to is told by labels or by its owner; the account is the namespace, the partition the queue of Kueue. GPUs are
held by a pod that has a node; slices and shares are no GPUs, and not counted.

Flags: runs_lost, bad_restart_count, key_without_submit, bad_time, ends_before_start; end_of_condition, end_of_other_container,
end_of_refusal (what told the end instead of the main container), end_unknown; other_container_failed (the state is its);
start_of_pod (the kubelet told no container's start); bad_gpus, gpu_slices; bad_container (one without a name, or a second one of
a name), containers_cut (more than 128 of them: their steps are left out), no_status.
Rejects: bad_object (without a name), bad_status (no object).
"""

from collections.abc import Mapping

from bathtub.ingest._kubernetes import Kind, Thing, text
from bathtub.ingest._kubernetes._pod_ends import Pod
from bathtub.ingest._kubernetes._pod_rows import PodRows
from bathtub.ingest._rows import Collector
from bathtub.schema import table


def _keep(collector: Collector, thing: Thing) -> str | None:
    if text(thing.metadata.get("name")) is None:
        return "bad_object"
    if not isinstance(thing.fields.get("status"), Mapping | None):
        return "bad_status"
    rows = PodRows(Pod(thing, collector.source))
    for row in rows.attempts():
        collector.keep("jobs", row)
    for row in rows.steps():
        collector.keep("job_steps", row)
    return None


KIND = Kind(frozenset({("", "Pod")}), (table("jobs"), table("job_steps")), _keep)
