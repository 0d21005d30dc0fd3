"""Containers of a pod: the main one, the GPUs that they ask for, and the runs that their statuses tell."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bathtub.ingest._kubernetes import items, mapping, number, text
from bathtub.ingest._kubernetes._times import instant, is_unreadable
from bathtub.source import Source

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""What a runtime writes for the start of a container that it could not start."""
UNLOCATED = "ContainerStatusUnknown"
"""The kubelet's word for a run that it found gone, as after a reboot."""
# nvidia.com/gpu   amd.com/gpu   nvidia.com/gpu.shared   nvidia.com/mig-3g.40gb
_GPU = re.compile(r"[a-z0-9.-]{1,100}/(?:(gpu)|gpu\.shared|mig-[a-z0-9.]{1,50})")
_COUNT = re.compile(r"[0-9]{1,9}")

Fields = Mapping[str, object]


@dataclass(frozen=True)
class Gpus:
    """GPUs asked for: how many (null where it cannot be told), as printed (null for none), and what is doubtful."""

    n_gpus: int | None = None
    printed: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One run of a container: restarts before it (null where not told), how it ended or runs, and why the container waits."""

    number: int | None
    terminated: Fields
    running: Fields
    waits: str | None

    @property
    def exit_code(self) -> int | None:
        """The exit code of a run that ended."""
        return number(self.terminated.get("exitCode"))

    @property
    def ends_with_pod(self) -> bool:
        """Whether a pod that is over ended this run too: not one that ended before, while the container waits for the next."""
        return not self.terminated or self.waits is None

    def moment(self, name: str, source: Source) -> datetime | None:
        """The time `startedAt` or `finishedAt`; null for none, for what is no time, and for that of a run that never began."""
        at = instant(self._written(name), source).at
        return None if at == NEVER else at

    def has_bad_time(self, source: Source) -> bool:
        """Whether one of its times cannot be read."""
        return any(is_unreadable(self._written(name), source) for name in ("startedAt", "finishedAt"))

    def _written(self, name: str) -> object:
        return self.terminated.get(name) if self.terminated else self.running.get(name)


def runs(status: Fields) -> tuple[Run, ...]:
    """The runs that a container's status tells, two at most, oldest first.

    `restartCount` is the number of the current run. While the container waits to be started again its last run still is the
    current one, unless it was found gone: then the count is that of the run to come.
    """
    state, count = mapping(status.get("state")), restarts(status)
    last = mapping(mapping(status.get("lastState")).get("terminated"))
    terminated, running = mapping(state.get("terminated")), mapping(state.get("running"))
    waits = text(mapping(state.get("waiting")).get("reason"))
    is_waiting = not terminated and not running
    if last and is_waiting and (_is_current(status, last) or not count):
        return (Run(count, last, {}, waits),)
    if last and is_waiting and count:
        return (Run(count - 1, last, {}, waits),)
    current = Run(count, terminated, running, waits)
    return (Run(count - 1, last, {}, None), current) if last and count else (current,)


def restarts(status: Fields) -> int | None:
    """How often the container was started again; null where that is not told."""
    count = number(status.get("restartCount"))
    return None if count is None or count < 0 else count


def _is_current(status: Fields, last: Fields) -> bool:
    return text(last.get("reason")) != UNLOCATED and status.get("containerID") in (None, "", last.get("containerID"))


def main_container(spec: Fields, statuses: Iterable[Fields]) -> str | None:
    """The name of the first container that asks for a GPU, else of the first."""
    containers = items(spec.get("containers")) or tuple(statuses)
    named = [(each, name) for each in containers if (name := text(each.get("name")))]
    return next((name for each, name in named if _asked(each)), named[0][1] if named else None)


def _asked(container: Fields) -> dict[str, str]:
    """What a container asks for of GPUs, as printed; requests and limits of such resources are equal, one may be left out."""
    resources = mapping(container.get("resources"))
    both = {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}
    gpus = {key: value for key, value in both.items() if isinstance(key, str) and _GPU.fullmatch(key)}
    return {key: value if isinstance(value, str) else str(number(value)) for key, value in gpus.items()}


def gpus(spec: Fields) -> Gpus:
    """GPUs of a pod: of all containers that run together, or of one that runs before them, whichever is more."""
    plan = [(each, each.get("restartPolicy") != "Always") for each in items(spec.get("initContainers"))]
    totals: dict[str, int] = {}
    peaks: dict[str, int] = {}
    is_bad = False
    for container, is_alone in (*plan, *((each, False) for each in items(spec.get("containers")))):
        for key, printed in _asked(container).items():
            if _COUNT.fullmatch(printed) is None:
                is_bad = True
                continue
            held = totals.get(key, 0) + int(printed)
            peaks[key] = max(peaks.get(key, 0), held)
            if not is_alone:
                totals[key] = held
    return _counted(peaks, is_bad=is_bad)


def _counted(peaks: Mapping[str, int], *, is_bad: bool) -> Gpus:
    is_sliced = any(found[1] is None for key in peaks if (found := _GPU.fullmatch(key)))
    flags = (*(["bad_gpus"] * is_bad), *(["gpu_slices"] * is_sliced))
    printed = ",".join(f"{key}={count}" for key, count in sorted(peaks.items())) or None
    return Gpus(sum(peaks.values()) if peaks and not flags else None, printed, flags)


def by_name(statuses: object) -> Iterator[tuple[str, Fields]]:
    """(name, status) of a list of container statuses, the first of each name."""
    met: set[str] = set()
    for each in items(statuses):
        name = text(each.get("name"))
        if name is not None and name not in met:
            met.add(name)
            yield name, each
