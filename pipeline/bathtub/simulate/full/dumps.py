"""Flight-recorder dumps of a hang: each rank's operations on the group of all ranks and on that of its node.

A step is two all_reduces on the node and one over all. What each rank has enqueued and seen done follows from the one thing
that went wrong at the last step. The groups' streams are worked off in order.
"""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bathtub.simulate.full.events import Attempt, Event
from bathtub.simulate.full.files import put
from bathtub.simulate.full.settings import GPUS_PER_NODE, Settings, at

STEP_S, N_STEPS, TIMEOUT_MS = 2.75, 14, 600_000
UNSEEN = 4
"""Steps whose ends a stuck GPU did not show any more."""

# layout, key of the library's version, its value
LAYOUTS = (("2.10", "comm_lib_version", "2.27.5"), ("2.9", "nccl_version", "2.26.2"), ("2.4", "nccl_version", "2.21.5"))
FIRST_SEQ = 40_000


@dataclass(frozen=True)
class Op:
    """One operation of a rank on a group."""

    group: str
    seq: int
    created_s: float
    size: int
    is_done: bool


def culprit(event: Event) -> int:
    """The global rank that is to blame, or was made to look so."""
    return event.attempts[0].nodes.index(event.node) * GPUS_PER_NODE + event.device


def write(folder: Path, settings: Settings, event: Event) -> None:
    """The dumps of one hang, below the number of its job."""
    attempt, blamed = event.attempts[0], culprit(event)
    layout = LAYOUTS[event.number % len(LAYOUTS)]
    chance = settings.rng("dumps", event.number)
    for rank in range(attempt.world):
        delay_s = float(chance.uniform(0, 20))
        if event.kind.dumps == "no_dump" and rank == blamed:
            continue
        content = _content(event, attempt, rank, blamed, layout, chance)
        path = folder / str(attempt.job_id) / f"nccl_trace_rank_{rank}"
        put(path, pickle.dumps(content, protocol=2), event.at_s + TIMEOUT_MS / 1000 + delay_s)


def _content(
    event: Event, attempt: Attempt, rank: int, blamed: int, layout: tuple[str, str, str], chance: np.random.Generator
) -> dict[str, object]:
    version, library_key, library = layout
    row = rank // GPUS_PER_NODE
    groups = {"0": ("default_pg", list(range(attempt.world)))}
    if attempt.world > GPUS_PER_NODE:
        groups[str(row + 1)] = ("node", list(range(row * GPUS_PER_NODE, (row + 1) * GPUS_PER_NODE)))
    ops = list(_ops(event, groups, chance, is_blamed=rank == blamed))
    status = {number: _status([op for op in ops if op.group == name]) for number, name in enumerate(groups)}
    entries = [_entry(op, groups[op.group][0], number, has_threads=version != "2.4") for number, op in enumerate(ops)]
    config = {name: {"name": name, "desc": desc, "ranks": str(ranks)} for name, (desc, ranks) in groups.items()}
    return {"version": version, "pg_config": config, library_key: library, "pg_status": status, "entries": entries}


def _status(ops: Sequence[Op]) -> dict[str, int]:
    """The watermarks of one group."""
    done = [op.seq for op in ops if op.is_done]
    enqueued = ops[-1].seq if ops else -1
    return {
        "last_enqueued_collective": enqueued,
        "last_started_collective": -1,
        "last_completed_collective": done[-1] if done else -1,
    }


def _ops(
    event: Event, groups: Mapping[str, tuple[str, list[int]]], chance: np.random.Generator, *, is_blamed: bool
) -> Iterator[Op]:
    """The ring, oldest first. The last operation over all ranks is the one that never ends."""
    finding = event.kind.dumps if is_blamed else ""
    order = [name for name in groups if name != "0"] * 2 + ["0"]
    for step in range(N_STEPS):
        for place, group in enumerate(order):
            is_last = group == "0" and step == N_STEPS - 1
            if is_last and finding == "never_joined":
                return
            is_unseen = finding == "completion_stuck" and step >= N_STEPS - UNSEEN
            yield Op(
                group=group,
                seq=FIRST_SEQ + step if group == "0" else 2 * (FIRST_SEQ + step) + place,
                created_s=event.at_s + (step - N_STEPS + 1) * STEP_S + 0.4 * place + float(chance.uniform(0, 0.002)),
                size=1536 if is_last and finding == "op_mismatch" else 1024,
                is_done=not is_last and not is_unseen,
            )


def _entry(op: Op, desc: str, number: int, *, has_threads: bool) -> dict[str, object]:
    moment, sizes = at(op.created_s), [[4096, op.size]]
    created_ns = int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
    entry: dict[str, object] = {
        "frames": [{"name": "backward", "filename": "/opt/train/step.py", "line": 118}],
        "record_id": 7000 + number, "pg_id": int(op.group != "0"), "process_group": (op.group, desc),
        "collective_seq_id": op.seq, "p2p_seq_id": 0, "op_id": op.seq, "profiling_name": "nccl:all_reduce",
        "time_created_ns": created_ns, "input_sizes": sizes, "input_dtypes": ["BFloat16"], "output_sizes": sizes,
        "output_dtypes": ["BFloat16"], "state": "completed" if op.is_done else "scheduled", "time_discovered_started_ns": None,
        "time_discovered_completed_ns": created_ns + 140_000_000 if op.is_done else None, "retired": op.is_done,
        "timeout_ms": TIMEOUT_MS, "is_p2p": False,
    }  # fmt: skip
    return entry | ({"thread_id": "140210", "thread_name": "pt_autograd_0"} if has_threads else {})
