"""Flight-recorder dumps of the two hangs: one plain dictionary per rank, pickled as the recorder does."""

import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bathtub.simulate.cluster import rng
from bathtub.simulate.jobs import Incident

PER_NODE = 8
N_OPS = 40
TIMEOUT_MS = 600_000
STEP = timedelta(milliseconds=2750)

# what is planted -> layout version, key of the library's version, its value
LAYOUTS = {
    "never_joined": ("2.10", "comm_lib_version", "2.27.5"),
    "missing": ("2.4", "nccl_version", "2.21.5"),
}


@dataclass(frozen=True)
class Dump:
    """One dump: its path below `dumps`, its content, and when it was written."""

    name: str
    content: bytes
    written_at: datetime


def dumps(seed: int, incident: Incident) -> Iterator[Dump]:
    """The dumps of one hang: all ranks wait in the last all_reduce for one that never came, or left no dump."""
    kind = incident.row.dumps
    if kind is None:
        return
    chance = rng(seed, "dumps", incident.row.planted_id)
    late = incident.nodes.index(incident.node) * PER_NODE + incident.device
    for rank in range(len(incident.nodes) * PER_NODE):
        written_at = incident.started_at + timedelta(milliseconds=TIMEOUT_MS + chance.randrange(20_000))
        content = pickle.dumps(_content(kind, rank, late, incident, chance), protocol=2)
        if kind == "never_joined" or rank != late:
            yield Dump(f"{incident.attempts[0].job_id}/nccl_trace_rank_{rank}", content, written_at)


def _content(kind: str, rank: int, late: int, incident: Incident, chance: random.Random) -> dict[str, object]:
    version, library_key, library = LAYOUTS[kind]
    world = list(range(len(incident.nodes) * PER_NODE))
    n_done = N_OPS - 1
    n_enqueued = n_done if rank == late else N_OPS
    status = {"last_enqueued_collective": n_enqueued, "last_started_collective": -1, "last_completed_collective": n_done}
    begun = incident.started_at - (N_OPS - 1) * STEP
    return {
        "version": version,
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(world)}},
        library_key: library,
        "pg_status": {0: status},
        "entries": [_entry(kind, number, begun + (number - 1) * STEP, chance) for number in range(1, n_enqueued + 1)],
    }


def _entry(kind: str, number: int, created_at: datetime, chance: random.Random) -> dict[str, object]:
    """One all_reduce of the group; the last one is never done."""
    is_done = number < N_OPS
    created_ns = int(created_at.timestamp()) * 1_000_000_000 + created_at.microsecond * 1000 + chance.randrange(2_000_000)
    shape = [4096, 1024 * (1 + number % 4)]
    entry: dict[str, object] = {
        "frames": [
            {"name": "backward", "filename": "/opt/train/step.py", "line": 118},
            {"name": "main", "filename": "/opt/train/main.py", "line": 41},
        ],
        "record_id": number - 1,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": number,
        "p2p_seq_id": 0,
        "op_id": number,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": created_ns,
        "input_sizes": [shape],
        "input_dtypes": ["BFloat16"],
        "output_sizes": [shape],
        "output_dtypes": ["BFloat16"],
        "state": "completed" if is_done else "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": created_ns + chance.randrange(90_000_000, 190_000_000) if is_done else None,
        "retired": is_done,
        "timeout_ms": TIMEOUT_MS,
        "is_p2p": False,
    }
    return entry | ({"thread_id": "140210", "thread_name": "pt_autograd_0"} if kind == "never_joined" else {})
