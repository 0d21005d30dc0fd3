"""Rows of a pod: a run of its main container is an attempt, and each run of a container a step."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bathtub.ingest._kubernetes import items, mapping, number, text
from bathtub.ingest._kubernetes._pod_containers import Fields, Gpus, Run, by_name, gpus, main_container, restarts, runs
from bathtub.ingest._kubernetes._pod_ends import OF_NODES, REFUSED, STATES, Pod, word
from bathtub.ingest._kubernetes._pod_jobs import job_of
from bathtub.ingest._kubernetes._times import instant, is_unreadable
from bathtub.ingest._rows import Row
from bathtub.ingest._times import TOLERANCE

MAX_CONTAINERS = 128
QUEUE = "kueue.x-k8s.io/queue-name"
LISTS = (("initContainerStatuses", "initContainers", True), ("containerStatuses", "containers", False))


@dataclass(frozen=True)
class PodRows:
    """The rows of one pod."""

    pod: Pod

    @cached_property
    def _spec(self) -> Fields:
        return mapping(self.pod.thing.fields.get("spec"))

    @cached_property
    def _main(self) -> str | None:
        """The name of the main container."""
        return main_container(self._spec, items(self.pod.status.get("containerStatuses")))

    @cached_property
    def _status(self) -> Fields:
        """The status of the main container, empty where it has none yet."""
        found = (each for name, each in by_name(self.pod.status.get("containerStatuses")) if name == self._main)
        return next(found, {})

    @cached_property
    def _gpus(self) -> Gpus:
        return gpus(self._spec)

    @cached_property
    def _common(self) -> Row:
        """What all rows of the pod share."""
        metadata, node = self.pod.thing.metadata, text(self._spec.get("nodeName"))
        name = (text(metadata.get("namespace")), text(metadata.get("name")))
        held = {"n_nodes": 1, "node_list": node, "nodes": [node]} if node else {}
        uid = text(metadata.get("uid"))
        return {"line": self.pod.thing.line, "job_id": "/".join(filter(None, name)), "job_id_raw": uid, **held}

    @cached_property
    def _created_at(self) -> datetime | None:
        return instant(self.pod.thing.metadata.get("creationTimestamp"), self.pod.source).at

    def _submitted_at(self, run: Run) -> datetime | None:
        """When the run was due: with its pod, or a restart in place when it began, which every later export tells alike."""
        is_first = run.number == 0 or (run.number is None and not mapping(self._status.get("lastState")))
        return self._created_at if is_first else run.moment("startedAt", self.pod.source)

    def attempts(self) -> Iterator[Row]:
        """The rows of `jobs`, oldest run first."""
        told = runs(self._status) if self._status else (Run(0, {}, {}, None),)
        lost = ["runs_lost"] if told[0].number else []
        for run in told:
            is_last = run is told[-1]
            row, flags = self._attempt(run, is_last=is_last)
            waits = {"reason": self.pod.waits_for(self._main)} if is_last else {}
            yield {
                **self._common,
                **self._asked(),
                **row,
                **waits,
                "flags": list(dict.fromkeys([*flags, *lost, *self._doubts()])),
            }

    def _asked(self) -> Row:
        """What the pod is part of, and what it asked for and holds."""
        job, asked = job_of(self.pod.thing), self._gpus
        limit_s = number(self._spec.get("activeDeadlineSeconds"))
        is_held = "nodes" in self._common
        labels = mapping(self.pod.thing.metadata.get("labels"))
        return {
            "gang_id": job.gang_id,
            "base_job_id": job.name,
            "array_task": job.task,
            "job_name": job.name or text(self.pod.thing.metadata.get("name")),
            "account": text(self.pod.thing.metadata.get("namespace")),
            "partition_name": text(labels.get(QUEUE)),
            "n_gpus_requested": asked.n_gpus,
            "req_tres": asked.printed,
            "n_gpus": asked.n_gpus if is_held else None,
            "alloc_tres": asked.printed if is_held else None,
            "timelimit_s": limit_s,
            "timelimit_kind": None if limit_s is None else "limited",
            "restarts": restarts(self._status),
        }

    def _attempt(self, run: Run, *, is_last: bool) -> tuple[Row, list[str]]:
        """The columns that say how one run of the main container went, and what of them is doubtful."""
        state = self.pod.state(self._main, run, is_last=is_last)
        ended_at, end_flag = self.pod.ended_at(self._main, run, is_last=is_last)
        started_at, start_flag = self._started_at(run)
        row, flags = self._course(run, state, self._submitted_at(run), (started_at, ended_at))
        node = self._common.get("node_list") if state in OF_NODES else None
        is_other = self.pod.is_of_other(self._main, run, is_last=is_last)
        flags += [flag for flag in (start_flag, end_flag) if flag] + ["other_container_failed"] * is_other
        return {**row, "run": run.number, "failed_node": node}, flags

    def _started_at(self, run: Run) -> tuple[datetime | None, str | None]:
        """When the run began; where a pod that ended tells of no container, when the kubelet took it."""
        status = self.pod.status
        is_wiped = self.pod.is_over and not self._status and text(status.get("reason")) not in REFUSED
        at = instant(status.get("startTime"), self.pod.source).at if is_wiped else None
        return (at, "start_of_pod") if at else (run.moment("startedAt", self.pod.source), None)

    def _course(
        self, run: Run, state: str | None, submitted_at: datetime | None, times: tuple[datetime | None, datetime | None]
    ) -> tuple[Row, list[str]]:
        """State, times and exit code of a run, and what of them is doubtful."""
        started_at, ended_at = times
        is_turned = started_at is not None and ended_at is not None and ended_at < started_at
        elapsed_s = int((ended_at - started_at).total_seconds()) if started_at and ended_at and not is_turned else None
        seen_at = ended_at or started_at or submitted_at
        is_future = seen_at is not None and seen_at > self.pod.source.collected_at + TOLERANCE
        flags = {
            "key_without_submit": submitted_at is None,
            "bad_time": run.has_bad_time(self.pod.source),
            "ends_before_start": is_turned,
        }
        row = {
            "seen_at": seen_at,
            "time_source": "scheduler",
            "time_quality": "unknown" if seen_at is None else "future" if is_future else "exact",
            "submitted_at": submitted_at,
            "started_at": started_at,
            "ended_at": ended_at,
            "elapsed_s": elapsed_s,
            "state": state,
            "is_state_known": state in STATES,
            "exit_code": run.exit_code,
            "exit_signal": number(run.terminated.get("signal")),
        }
        return row, [flag for flag, is_so in flags.items() if is_so]

    def _doubts(self) -> Iterator[str]:
        """What is doubtful about the pod, whichever run it is."""
        written = (
            *map(self.pod.thing.metadata.get, ("creationTimestamp", "deletionTimestamp")),
            self.pod.status.get("startTime"),
        )
        listed = [each for key, _, _ in LISTS for each in items(self.pod.status.get(key))]
        n_named = sum(1 for key, _, _ in LISTS for _ in by_name(self.pod.status.get(key)))
        flags = {
            "no_status": not self.pod.status,
            "bad_restart_count": bool(self._status) and restarts(self._status) is None,
            "bad_time": any(is_unreadable(value, self.pod.source) for value in written),
            "bad_container": n_named < len(listed),
            "containers_cut": len(listed) > MAX_CONTAINERS,
        }
        yield from (flag for flag, is_so in flags.items() if is_so)
        yield from self._gpus.flags

    def steps(self) -> Iterator[Row]:
        """The rows of `job_steps`: each run that a container's status tells."""
        met: set[str] = set()
        for statuses, containers, is_init in LISTS:
            specs = dict(by_name(self._spec.get(containers)))
            for name, status in by_name(self.pod.status.get(statuses)):
                if name in met or len(met) >= MAX_CONTAINERS:
                    continue
                met.add(name)
                held = gpus({"containers": [specs.get(name, {})]})
                for run in runs(status):
                    yield {**self._step(name, run, held), "is_init": is_init}

    def _step(self, name: str, run: Run, held: Gpus) -> Row:
        times = run.moment("startedAt", self.pod.source), run.moment("finishedAt", self.pod.source)
        state = word(run) if run.terminated else "Running" if run.running else "Waiting"
        submitted_at = self._submitted_at(run) if name == self._main else self._created_at
        row, flags = self._course(run, state, submitted_at, times)
        return {
            **self._common,
            **row,
            "n_gpus": held.n_gpus if "nodes" in self._common else None,
            "step": name,
            "run": run.number,
            "reason": text(run.terminated.get("reason")) or run.waits,
            "flags": [*flags, *held.flags],
        }
