"""What was planted, and what a right judge says of it with the files that were written."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bathtub.simulate.full.devices import Parts
from bathtub.simulate.full.dumps import culprit
from bathtub.simulate.full.events import Event, History
from bathtub.simulate.full.kinds import Verdict, right
from bathtub.simulate.full.lines import is_noisy
from bathtub.simulate.full.settings import Settings, at
from bathtub.simulate.full.topology import NICS, SLOTS

INCIDENTS = (
    "planted_id", "started_at", "node", "pci_bdf", "device_serial", "job_ids", "component", "expected_component",
    "expected_cause", "is_failure", "is_planned", "has_evidence", "note",
    "kind", "nodes", "also_right", "is_knowable", "sources", "culprit_rank", "broken_bdf", "broken_serial", "broken_uuid",
)  # fmt: skip
PHASES = ("planted_id", "failed_at", "detected_at", "replaced_at", "restarted_at", "lost_work_s", "lost_gpu_s")
ATTEMPTS = (
    "job_id",
    "run",
    "submitted_at",
    "started_at",
    "ended_at",
    "state",
    "exit_code",
    "n_nodes",
    "nodes",
    "user",
    "planted_id",
)
MAX_NODES = 64
"""Node lists beyond this are left out of the truth's cells: attempts.csv has them."""


def write(folder: Path, settings: Settings, parts: Parts, history: History) -> None:
    """incidents.csv, phases.csv and attempts.csv."""
    doubtful = suspects(history)
    rows = (row for event in history.events for row in _incident(settings, parts, event, doubtful))
    _table(folder / "incidents.csv", INCIDENTS, rows)
    _table(folder / "phases.csv", PHASES, (_phases(event) for event in history.events if event.kind.is_failure))
    _table(folder / "attempts.csv", ATTEMPTS, _attempts(settings, parts, history))


def _table(path: Path, header: tuple[str, ...], rows: Iterator[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def suspects(history: History) -> frozenset[tuple[int, int, str]]:
    """(node, slot, script) where programs of several jobs failed in one way: by chance here, but a judge must doubt the GPU."""
    jobs: dict[tuple[int, int, str], set[int]] = {}
    for event in history.events:
        if event.kind.script in {"page_fault", "exception"} and not event.is_silent:
            key = (event.node, event.device, event.kind.script)
            jobs.setdefault(key, set()).add(event.attempts[0].job_id if event.attempts else -event.number)
    return frozenset(key for key, numbers in jobs.items() if len(numbers) > 1)


def sources(settings: Settings, event: Event) -> frozenset[str]:
    """The kinds of sources that hold something of an incident."""
    kind = event.kind
    found = {"scheduler"} if event.attempts or kind.ends == "node" or kind.repair_h else set()
    if kind.dumps and event.attempts:
        found.add("recorder")
    if kind.script and not event.is_silent:
        found |= {"kernel", "daemon"} if kind.script.startswith("psu") else {"kernel"}
    if event.attempts and any(attempt.ended_s < settings.end_s for attempt in event.attempts):
        found.add("job")
    if kind.is_planned:
        found.add("plant")
    return frozenset(found - settings.missing)


def _right(event: Event, written: frozenset[str]) -> Verdict:
    """Its own verdict; else its jobs or its node are known to have ended, and no more."""
    if (verdict := right(event.kind, written)) is not None:
        return verdict
    if not (written & {"scheduler"}):
        return Verdict(frozenset(), "unknown")
    return Verdict(frozenset(), "unknown", "node_fail" if event.kind.ends == "node" else "job_exit" if event.attempts else "")


def _incident(
    settings: Settings, parts: Parts, event: Event, doubtful: frozenset[tuple[int, int, str]]
) -> Iterator[tuple[object, ...]]:
    """One row; of a planned window one per node that shows it."""
    verdict = _right(event, sources(settings, event))
    if (event.node, event.device, event.kind.script) in doubtful and verdict.component == "software":
        verdict = replace(verdict, also="gpu")
    if not event.kind.is_planned:
        jobs = ";".join(dict.fromkeys(str(each.job_id) for each in event.attempts))
        yield _row(settings, parts, event, event.node, jobs, verdict)
        return
    for node in event.nodes:
        mine = [str(each.job_id) for each in event.attempts if next((n for n in event.nodes if n in each.nodes), None) == node]
        if mine or is_noisy(settings, event, node):
            yield _row(settings, parts, event, node, ";".join(mine), verdict)


def _row(settings: Settings, parts: Parts, event: Event, node: int, jobs: str, verdict: Verdict) -> tuple[object, ...]:
    kind, written, names = event.kind, sources(settings, event), parts.fleet.nodes
    part = parts.part(kind.device, node, event.device, event.at_s) if kind.device else None
    bdf = (SLOTS if kind.device == "gpu" else NICS)[event.device] if part else ""
    is_named = part is not None and verdict.names_device
    is_visible = _is_visible(event, verdict, written)
    name = f"{event.planted_id}-{names[node].name}" if kind.is_planned else event.planted_id
    others = ";".join(names[each].name for each in event.nodes[:MAX_NODES])
    what = (kind.component, verdict.component, verdict.cause, *map(_flag, (kind.is_failure, kind.is_planned, is_visible)))
    rank = culprit(event) if kind.dumps and event.attempts else ""
    true = (bdf, part.serial if part else "", part.uuid if part else "")
    return (
        name, _utc(event.at_s), names[node].name, bdf if is_named else "", part.serial if part and is_named else "", jobs, *what,
        kind.note, kind.name, others, verdict.also.replace(" ", ";"), _flag(verdict.component != "unknown"),
        ";".join(sorted(written)), rank, *true,
    )  # fmt: skip


def _is_visible(event: Event, verdict: Verdict, written: frozenset[str]) -> bool:
    """Whether a judge can find an incident at all: a repair, and a job that people stopped, say nothing of a failure."""
    if event.kind.is_planned:
        return "kernel" in written
    is_ended = event.kind.is_failure and (bool(event.attempts) or event.kind.ends == "node")
    return bool(verdict.needs) or (is_ended and "scheduler" in written)


def _phases(event: Event) -> tuple[object, ...]:
    """When an incident was felt, seen, mended and overcome; and the work that is done again."""
    attempts = event.attempts
    lost = [(each.ended_s - each.started_s) % each.checkpoint_s for each in attempts]
    detected = min((each.ended_s for each in attempts), default=None)
    gpu_s = sum(own * each.world for own, each in zip(lost, attempts, strict=True))
    times = (event.at_s, detected, event.replaced_s, event.restarted_s)
    return (event.planted_id, *map(_utc, times), f"{max(lost):.0f}" if lost else "", f"{gpu_s:.0f}" if lost else "")


def _attempts(settings: Settings, parts: Parts, history: History) -> Iterator[tuple[object, ...]]:
    for each in sorted(history.attempts, key=lambda one: (one.started_s, one.job_id)):
        nodes = f"{parts.fleet.nodes[each.nodes[0]].name};…" if len(each.nodes) > MAX_NODES else ""
        nodes = nodes or ";".join(parts.fleet.nodes[node].name for node in each.nodes)
        ended = each.ended_s if each.ended_s < settings.end_s else None
        times = (_utc(each.submitted_s), _utc(each.started_s), _utc(ended))
        state = (each.state, each.exit_code) if ended is not None else ("RUNNING", "")
        cause = each.ended_by.planted_id if each.ended_by and ended is not None else ""
        yield (each.job_id, each.run, *times, *state, len(each.nodes), nodes, each.user, cause)


def _flag(value: object) -> str:
    return str(bool(value)).lower()


def _utc(at_s: float | None) -> str:
    return "" if at_s is None else f"{at(at_s):%Y-%m-%dT%H:%M:%SZ}"
