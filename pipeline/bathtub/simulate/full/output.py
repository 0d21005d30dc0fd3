"""What jobs print: placements, checkpoints, and how their ranks end."""

from collections.abc import Iterator
from pathlib import Path

from bathtub.simulate.full.events import Attempt, History
from bathtub.simulate.full.files import opened
from bathtub.simulate.full.last_words import last_words
from bathtub.simulate.full.settings import GPUS_PER_NODE, Settings, local
from bathtub.simulate.full.topology import SLOTS, Fleet

MAX_LISTED = 64
"""Nodes up to which a job prints where its ranks run."""

P_KEPT = 0.25
"""The share of jobs whose output was kept though nothing happened to them."""


def write(folder: Path, settings: Settings, fleet: Fleet, history: History) -> None:
    """slurm-<job>.out of jobs that something happened to, and of some others; attempts of a job stand one behind the other."""
    jobs: dict[int, list[Attempt]] = {}
    for attempt in history.attempts:
        jobs.setdefault(attempt.job_id, []).append(attempt)
    for job_id, attempts in jobs.items():
        is_struck = any(attempt.ended_by is not None for attempt in attempts)
        if attempts[-1].started_s < settings.end_s and (is_struck or settings.rng("output", job_id).random() < P_KEPT):
            ended_s = min(attempts[-1].ended_s, settings.end_s)
            with opened(folder / f"slurm-{job_id}.out", ended_s) as file:
                for attempt in attempts:
                    file.writelines((line + "\n").encode() for line in _lines(settings, fleet, attempt))


def _lines(settings: Settings, fleet: Fleet, attempt: Attempt) -> Iterator[str]:
    first = fleet.nodes[attempt.nodes[0]].name
    began_s = attempt.started_s + 25
    yield f"{local(began_s):%Y-%m-%d %H:%M:%S},113 | INFO | {attempt.name}: world size {attempt.world}"
    if len(attempt.nodes) <= MAX_LISTED:
        yield from _placements(fleet, attempt)
    else:
        yield _init(first, attempt, 0, 0)
    until_s = min(attempt.ended_s, settings.end_s)
    moment = attempt.started_s + attempt.checkpoint_s
    while moment < until_s:
        steps = int((moment - attempt.started_s) / 2.75)
        stamp = f"{local(moment):%Y-%m-%d %H:%M:%S},872"
        yield f"{stamp} | INFO | saved checkpoint at iteration {steps} to /ckpt/{attempt.run}/{steps:08}"
        moment += attempt.checkpoint_s
    if attempt.ended_by is not None and attempt.ended_s < settings.end_s:
        yield from last_words(settings, fleet, attempt, MAX_LISTED)


def _placements(fleet: Fleet, attempt: Attempt) -> Iterator[str]:
    for place, node in enumerate(attempt.nodes):
        for slot in range(GPUS_PER_NODE):
            yield _init(fleet.nodes[node].name, attempt, place * GPUS_PER_NODE + slot, slot)


def _init(host: str, attempt: Attempt, rank: int, slot: int) -> str:
    """NCCL's own line of a communicator that is ready."""
    bus = SLOTS[slot].split(":")[1].lstrip("0") + "000"
    pid, world = 20_000 + 100 * slot, f"nranks {attempt.world} cudaDev {slot} nvmlDev {slot}"
    comm = f"comm 0x55d0a1b2{rank:04x} rank {rank} {world} busId {bus} commId 0x8f2d3c1e{attempt.job_id:08x}"
    return f"{host}:{pid}:{pid + 9} [{slot}] NCCL INFO ncclCommInitRank {comm} - Init COMPLETE"
