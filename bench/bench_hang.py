"""Dumps of 64 ranks of 2,000 entries with stack frames → verdict, as a ratio to PyTorch's own analyser where it is installed.

Whole processes: start, imports, the reading child. Wall, CPU and the peak of resident memory over the process tree,
medians of interleaved rounds; the answer is checked. Then 512 ranks, which must take eight times as long and no more.

    python bench/bench_hang.py [--rounds 5] [--large]
"""

import argparse
import json
import os
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulate_ranks import NS

CULPRIT, ROW = 5, 8
FRAMES = [
    {"name": f"step_{n}", "filename": f"/opt/venv/lib/python3.12/site-packages/trainer/layer_{n % 40}.py", "line": 100 + n}
    for n in range(200)
]
STACKS = [[FRAMES[(number * 7 + depth) % 200] for depth in range(18)] for number in range(24)]
BOUNDS = "goal: under 0.2x of the wall time (0.1x is the aim) and under 0.7x of the memory"


def dump(rank: int, n_ranks: int, n_entries: int) -> dict[str, object]:
    """Every operation is done but the last one over all ranks, to which one rank does not come."""
    row = str(1 + rank // ROW)
    members = {"0": list(range(n_ranks)), row: list(range(rank - rank % ROW, rank - rank % ROW + ROW))}
    numbers, entries = dict.fromkeys(members, 5000), []
    for index in range(n_entries):
        is_last = index == n_entries - 1
        if is_last and rank == CULPRIT:
            break
        group = "0" if is_last or index % 50 == 49 else row
        numbers[group] += 1
        created, sizes = NS + index * 3_000_000 + rank * 1000, [[1]] if group == "0" else [[4096, 1024]]
        entries.append(
            {
                "record_id": 100_000 + index, "pg_id": int(group != "0"), "process_group": (group, "default_pg"),
                "collective_seq_id": numbers[group], "p2p_seq_id": 0, "op_id": numbers[group],
                "profiling_name": "nccl:all_reduce", "time_created_ns": created,
                "input_sizes": sizes, "input_dtypes": ["BFloat16"], "output_sizes": sizes, "output_dtypes": ["BFloat16"],
                "state": "scheduled" if is_last else "completed", "time_discovered_started_ns": None,
                "time_discovered_completed_ns": None if is_last else created + 1_500_000, "retired": not is_last,
                "timeout_ms": 600_000, "is_p2p": False, "thread_id": "139", "thread_name": "pt_main_thread",
                "frames": STACKS[index % 24],
            }
        )  # fmt: skip
    marks = {
        str(number): {
            "last_enqueued_collective": numbers[group],
            "last_started_collective": -1,
            "last_completed_collective": numbers[group] - (group == "0" and rank != CULPRIT),
        }
        for number, group in enumerate(members)
    }
    config = {name: {"name": name, "desc": "default_pg", "ranks": str(ranks)} for name, ranks in members.items()}
    return {"version": "2.10", "pg_config": config, "comm_lib_version": "2.27.5", "pg_status": marks, "entries": entries}


def write(folder: Path, n_ranks: int, n_entries: int) -> Path:
    folder.mkdir()
    for rank in range(n_ranks):
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump(rank, n_ranks, n_entries), 2))
    return folder


def resident_mib(pid: int) -> float:
    """Resident memory of a process and all below it."""
    total, stack = 0.0, [pid]
    while stack:
        one = stack.pop()
        try:
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
            stack += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except (OSError, IndexError):
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    return total


def measured(command: list[str], is_right: Callable[[str], bool]) -> tuple[float, float, float]:
    """Wall s, CPU s, peak MiB of a command whose output is checked."""
    before, started, peak = os.times(), time.monotonic(), 0.0
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.append(child.stdout.read()))
    reader.start()
    while child.poll() is None:
        peak = max(peak, resident_mib(child.pid))
        time.sleep(0.01)
    reader.join()
    wall, after = time.monotonic() - started, os.times()
    assert is_right(output[0]), output[0][-2000:]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, peak


def ours(folder: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-m", "bathtub", "hang", str(folder), "--json"]
    return measured(command, lambda text: json.loads(text)["culprits"] == [CULPRIT])


def theirs(folder: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder), "-p", "nccl_trace_rank_"]
    return measured(command, bool)


def medians(rounds: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    return tuple(statistics.median(values) for values in zip(*rounds, strict=True))


def said(name: str, values: tuple[float, float, float]) -> None:
    print(f"{name:24} wall {values[0]:6.2f} s   CPU {values[1]:6.2f} s   peak {values[2]:6.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="512 ranks too: 230 MB of dumps")
    chosen = parser.parse_args()
    has_torch = find_spec("torch") is not None
    with tempfile.TemporaryDirectory() as scratch:
        small = write(Path(scratch) / "small", 64, 2000)
        found: dict[str, list[tuple[float, float, float]]] = {}
        for _ in range(chosen.rounds):
            found.setdefault("bathtub, 64 ranks", []).append(ours(small))
            if has_torch:
                found.setdefault("torch, 64 ranks", []).append(theirs(small))
        for name, rounds in found.items():
            said(name, medians(rounds))
        base = medians(found["bathtub, 64 ranks"])
        if has_torch:
            ratio = [mine / other for mine, other in zip(base, medians(found["torch, 64 ranks"]), strict=True)]
            print(f"ratio: wall {ratio[0]:.2f}, CPU {ratio[1]:.2f}, memory {ratio[2]:.2f} ({BOUNDS})")
        else:
            print("torch is not installed: its analyser is left out")
        if chosen.large:
            shutil.rmtree(small)
            large = ours(write(Path(scratch) / "large", 512, 2000))
            said("bathtub, 512 ranks", large)
            print(f"8x the ranks: CPU {large[1] / base[1]:.1f}x, memory {large[2] / base[2]:.1f}x (goal: linear, under 2048 MiB)")


if __name__ == "__main__":
    main()
