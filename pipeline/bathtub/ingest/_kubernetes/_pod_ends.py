"""How and when a pod ended, in the cluster's own words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from bathtub.ingest._kubernetes import Thing, items, mapping, number, text
from bathtub.ingest._kubernetes._pod_containers import Fields, Run, by_name, runs
from bathtub.ingest._kubernetes._times import instant
from bathtub.source import Source

OF_TERMINATED = {"Completed": "Succeeded", "Error": "Failed"}
"""Words of a container's end that say no more than the phase does."""
PHASES = frozenset({"Pending", "Running", "Succeeded", "Failed", "Unknown"})
OF_NODES = frozenset({"NodeLost", "NodeShutdown", "Shutdown", "Terminated", "DeletionByTaintManager", "DeletionByPodGC"})
"""Ends that are statements about the pod's node."""
REFUSED = frozenset(
    {
        "UnexpectedAdmissionError", "NodeAffinity", "TopologyAffinityError", "SMTAlignmentError", "NodeShutdown", "OutOfcpu",
        "InvalidNodeInfo", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage", "OutOfnvidia.com/gpu", "OutOfamd.com/gpu",
    }
)  # fmt: skip
"""Why a kubelet does not take a pod that it was given: the pod never ran there."""
DISRUPTIONS = frozenset(
    {
        "PreemptionByScheduler", "PreemptionByKubeScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI",
        "DeletionByPodGC", "TerminationByKubelet",
    }
)  # fmt: skip
OTHER_ENDS = frozenset(
    {
        "Evicted", "Preempting", "NodeLost", "Terminated", "Shutdown", "DeadlineExceeded", "Terminating",
        "OOMKilled", "ContainerCannotRun", "StartError", "ContainerStatusUnknown",
    }
)  # fmt: skip
STATES = PHASES | {"Waiting"} | REFUSED | DISRUPTIONS | OTHER_ENDS
"""Every word that is known, of pods and of their containers."""
MAX_GRACE_S = 10**7


@dataclass(frozen=True)
class Pod:
    """What a pod's object tells about its end."""

    thing: Thing
    source: Source

    @cached_property
    def status(self) -> Fields:
        """The status, empty where there is none."""
        return mapping(self.thing.fields.get("status"))

    @property
    def phase(self) -> str | None:
        """The phase."""
        return text(self.status.get("phase"))

    @cached_property
    def conditions(self) -> Mapping[str, Fields]:
        """The conditions by type, the last of each."""
        return {name: each for each in items(self.status.get("conditions")) if (name := text(each.get("type")))}

    @property
    def disrupted_by(self) -> str | None:
        """Why the cluster took the pod from its node; null where it did not."""
        condition = self.conditions.get("DisruptionTarget", {})
        return text(condition.get("reason")) if condition.get("status") == "True" else None

    @property
    def is_over(self) -> bool:
        """Whether it ended, or the cluster gave it up: a kubelet that is silent never tells the end of its pods."""
        is_given_up = self._deleted_at is not None and self.disrupted_by is not None
        return self.phase in ("Succeeded", "Failed") or self.status.get("reason") == "NodeLost" or is_given_up

    @cached_property
    def failed(self) -> tuple[str, Run] | None:
        """The container that failed first, in the order of their ends, and its last run."""
        listed = (each for key in ("initContainerStatuses", "containerStatuses") for each in by_name(self.status.get(key)))
        last = ((name, runs(status)[-1]) for name, status in listed)
        ended = [(self._place(run), name, run) for name, run in last if run.terminated and word(run) not in ("Succeeded", None)]
        return min(ended, key=lambda each: each[0])[1:] if ended else None

    def _place(self, run: Run) -> str:
        ended_at = run.moment("finishedAt", self.source)
        return ended_at.isoformat() if ended_at else "~"

    def state(self, main: str | None, run: Run, *, is_last: bool) -> str | None:
        """The state of a run of the main container: of the pod where they ended together, else its own."""
        if is_last and self.is_over and run.ends_with_pod:
            return self._end_word(main, run)
        if run.terminated:
            return self._own_word(run)
        return self.phase if self._deleted_at is None else "Terminating"

    def is_of_other(self, main: str | None, run: Run, *, is_last: bool) -> bool:
        """Whether the state of a run is the word of another container than the main one."""
        is_own = run.terminated and word(run) != "Succeeded"
        is_told = self.phase != "Failed" or text(self.status.get("reason")) or self.disrupted_by
        return bool(is_last and run.ends_with_pod and not is_own and not is_told and self._other(main))

    def _end_word(self, main: str | None, run: Run) -> str | None:
        if self.phase == "Succeeded":
            return self.phase
        told = text(self.status.get("reason")) or self.disrupted_by
        culprit = run if run.terminated and word(run) != "Succeeded" else self._other(main)
        return told or (self._own_word(culprit) if culprit else None) or self.phase

    def _other(self, main: str | None) -> Run | None:
        """The failed run of another container than the main one."""
        return self.failed[1] if self.failed and self.failed[0] != main else None

    def _own_word(self, run: Run) -> str | None:
        """The word of a run that ended; a failure after the pod was to be deleted is that deletion."""
        found = word(run)
        deleted_at, ended_at = self._deleted_at, run.moment("finishedAt", self.source)
        is_deletion = found == "Failed" and deleted_at is not None and ended_at is not None and ended_at >= deleted_at
        return "Terminating" if is_deletion else found

    @cached_property
    def _deleted_at(self) -> datetime | None:
        """When the deletion was asked for: the object tells when it was to be gone, and the grace until then."""
        gone_at = instant(self.thing.metadata.get("deletionTimestamp"), self.source).at
        grace_s = number(self.thing.metadata.get("deletionGracePeriodSeconds")) or 0
        return gone_at - timedelta(seconds=grace_s) if gone_at and 0 <= grace_s <= MAX_GRACE_S else gone_at

    def ended_at(self, main: str | None, run: Run, *, is_last: bool) -> tuple[datetime | None, str | None]:
        """The end of a run of the main container, null while it is open, and a flag where something else tells it, or nothing."""
        if is_last and self.is_over and run.ends_with_pod:
            return next(self._ends(main, run), (None, "end_unknown"))
        at = run.moment("finishedAt", self.source)
        return at, "end_unknown" if run.terminated and at is None else None

    def _ends(self, main: str | None, run: Run) -> Iterator[tuple[datetime, str | None]]:
        other = self._other(main)
        started_at = instant(self.status.get("startTime"), self.source).at
        ready_at = self._since("Ready", "False")
        is_refused = text(self.status.get("reason")) in REFUSED and not run.terminated
        candidates = (
            (run.moment("finishedAt", self.source), None),
            (self._since("DisruptionTarget", "True"), "end_of_condition"),
            (other.moment("finishedAt", self.source) if other else None, "end_of_other_container"),
            (ready_at if started_at is None or (ready_at and ready_at > started_at) else None, "end_of_condition"),
            (started_at if is_refused else None, "end_of_refusal"),
        )
        return ((at, flag) for at, flag in candidates if at is not None)

    def _since(self, name: str, status: str) -> datetime | None:
        condition = self.conditions.get(name, {})
        return instant(condition.get("lastTransitionTime"), self.source).at if condition.get("status") == status else None

    def waits_for(self, main: str | None) -> str | None:
        """Why it waits: of the first container that says more than that it is being set up, else that no node was found."""
        listed = [each for key in ("initContainerStatuses", "containerStatuses") for each in by_name(self.status.get(key))]
        said = {name: reason for name, status in listed if (reason := runs(status)[-1].waits)}
        telling = (reason for reason in said.values() if reason not in ("PodInitializing", "ContainerCreating"))
        scheduled = self.conditions.get("PodScheduled", {})
        unplaced = text(scheduled.get("reason")) if scheduled.get("status") == "False" else None
        return next(telling, said.get(main or "") or unplaced)


def word(run: Run) -> str | None:
    """The word of a run that ended: the runtime's, else by the exit code; null where neither is told."""
    reason = text(run.terminated.get("reason"))
    if reason is not None:
        return OF_TERMINATED.get(reason, reason)
    return None if run.exit_code is None else "Failed" if run.exit_code else "Succeeded"
