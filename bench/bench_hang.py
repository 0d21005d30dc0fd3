"""Dumps of 64 ranks of 2,000 entries with stack frames → verdict, as a ratio to PyTorch's own analyser where it is at hand.

Whole processes: start, imports, the reading children. Wall, CPU and the peak of resident memory over the process tree,
medians of interleaved rounds; what both name is printed and ours is checked. Then 128, 256 and 512 ranks, which must take
their share more of time and memory and no more.

    python bench/bench_hang.py [--rounds 5] [--large] [--torch PYTHON]

PyTorch need not be installed beside the project: an interpreter that has it is named by --torch or $BATHTUB_TORCH_PYTHON.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.make_dumps import put
from tests.simulate_ranks import NS

CULPRIT, ROW, EVERY, FIRST = 5, 8, 50, 100_000
FRAMES = [
    {"name": f"step_{n}", "filename": f"/opt/venv/lib/python3.12/site-packages/trainer/layer_{n % 40}.py", "line": 100 + n}
    for n in range(200)
]
STACKS = [[FRAMES[(number * 7 + depth) % 200] for depth in range(18)] for number in range(24)]
SHARED = frozenset(map(id, FRAMES))
PLACES = (1 << 30, (1 << 30) + 1, 1 << 62, (1 << 62) + 1)
CYCLE = 600
"""After as many operations group, kind and stack are the same again."""
SETTLED = 4 * EVERY
"""From here on every text and every frame has been seen."""
BOUNDS = "goal: at most 0.2 of the wall time (0.1 is the aim) and 0.7 of the memory"

Measured = tuple[float, float, float]


def groups_of(rank: int, n_ranks: int) -> dict[str, tuple[str, list[int]]]:
    """Name to description and members: all ranks, the tensor group (a row of eight), the data group (a column)."""
    n_rows, row, column = n_ranks // ROW, rank // ROW, rank % ROW
    return {
        "0": ("default_pg", list(range(n_ranks))),
        str(1 + row): ("TENSOR_MODEL_PARALLEL_GROUP", list(range(row * ROW, (row + 1) * ROW))),
        str(1 + n_rows + column): ("DATA_PARALLEL_GROUP", list(range(column, n_ranks, ROW))),
    }


def which(index: int) -> int:
    """The group of the operation at that place of every rank's program: one in 50 is over all, one in five over the column."""
    return 0 if index % EVERY == EVERY - 1 else 2 if index % 5 == 4 else 1


def entry(name: str, desc: str, index: int, numbers: Sequence[int | None]) -> dict[str, object]:
    """The operation at that place, with its record, number, creation and completion."""
    number, (record_id, seq, created, completed) = which(index), numbers
    op = "_all_gather_base" if number == 1 and index % 5 == 0 else "all_reduce"
    sizes = [[1]] if number == 0 else [[4096, 1024]]
    return {
        "frames": STACKS[index % 24], "record_id": record_id, "pg_id": number, "process_group": (name, desc),
        "collective_seq_id": seq, "p2p_seq_id": 0, "op_id": seq, "profiling_name": f"nccl:{op}", "time_created_ns": created,
        "input_sizes": sizes, "input_dtypes": ["BFloat16"],
        "output_sizes": [[4096 * ROW, 1024]] if op == "_all_gather_base" else sizes, "output_dtypes": ["BFloat16"],
        "state": "completed" if completed else "scheduled", "time_discovered_started_ns": None,
        "time_discovered_completed_ns": completed, "retired": completed is not None, "timeout_ms": 600_000, "is_p2p": False,
        "thread_id": "139", "thread_name": "pt_main_thread",
    }  # fmt: skip


def entries(rank: int, n_ranks: int, n_entries: int, memo: dict[object, int]) -> Iterator[bytes]:
    """Every operation is done but the last one, over all ranks, to which one rank does not come.

    Once all texts and frames are known, entries of one kind differ in their numbers alone: these are put in place, since to
    build each entry anew takes fifty times as long.
    """
    groups = [(name, desc) for name, (desc, _) in groups_of(rank, n_ranks).items()]
    seqs, known = [FIRST] * len(groups), dict[int, bytes]()
    for index in range(n_entries - (rank == CULPRIT)):
        number, created, is_last = which(index), NS + index * 3_000_000 + rank * 1000, index == n_entries - 1
        seqs[number] += 1
        values = (FIRST + index, seqs[number], created, created + 1_500_000)
        if index < SETTLED or is_last:
            yield put(entry(*groups[number], index, (*values[:3], None if is_last else values[3])), memo, SHARED)
            continue
        made = known.get(index % CYCLE) or put(entry(*groups[number], index, PLACES), memo, SHARED)
        known[index % CYCLE] = made
        for place, value in zip(PLACES, values, strict=True):
            made = made.replace(put(place, {}), put(value, {}))
        yield made


def dump(rank: int, n_ranks: int, n_entries: int) -> bytes:
    """One rank's dump as torch writes it: each text and each frame once, and for each entry a list of its frames."""
    assert n_entries % EVERY == 0
    assert n_entries > SETTLED
    groups, mine = groups_of(rank, n_ranks), [which(index) for index in range(n_entries - (rank == CULPRIT))]
    status = {
        str(number): {
            "last_enqueued_collective": FIRST + mine.count(number),
            "last_started_collective": -1,
            "last_completed_collective": FIRST + mine.count(number) - (number == 0 and rank != CULPRIT),
        }
        for number in range(len(groups))
    }
    config = {name: {"name": name, "desc": desc, "ranks": str(members)} for name, (desc, members) in groups.items()}
    memo: dict[object, int] = {}
    top = {"version": "2.10", "pg_config": config, "comm_lib_version": "2.27.5", "pg_status": status, "entries": []}
    return b"\x80\x02" + put(top, memo).removesuffix(b"eu") + b"".join(entries(rank, n_ranks, n_entries, memo)) + b"eu."


def write(folder: Path, n_ranks: int, n_entries: int) -> Path:
    folder.mkdir()
    for rank in range(n_ranks):
        (folder / f"nccl_trace_rank_{rank}").write_bytes(dump(rank, n_ranks, n_entries))
    return folder


def resident_mib(pid: int) -> float:
    """Resident memory of a process and all below it."""
    total, stack = 0.0, [pid]
    while stack:
        one = stack.pop()
        try:
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
            for task in Path(f"/proc/{one}/task").iterdir():
                stack += map(int, (task / "children").read_text().split())
        except (OSError, IndexError):
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    return total


def measured(command: list[str], is_right: Callable[[str], bool]) -> tuple[Measured, str]:
    """Wall s, CPU s, peak MiB of a command whose output is checked; and the output."""
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
    return (wall, cpu, peak), output[0]


def ours(folder: Path) -> tuple[Measured, str]:
    command = [sys.executable, "-m", "bathtub", "hang", str(folder), "--json"]
    found, output = measured(command, lambda text: json.loads(text)["culprits"] == [CULPRIT])
    return found, str(json.loads(output)["culprits"])


def theirs(python: str, folder: Path) -> tuple[Measured, str]:
    command = [python, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder), "-p", "nccl_trace_rank_"]
    found, output = measured(command, lambda text: "collective" in text)
    ranks = sorted({int(rank) for listed in re.findall(r"missing ranks: \{([\d, ]+)\}", output) for rank in listed.split(",")})
    return found, str(ranks)


def has_torch(python: str) -> bool:
    found = subprocess.run([python, "-c", "import torch.distributed.flight_recorder"], capture_output=True, check=False)
    return found.returncode == 0


def medians(rounds: list[Measured]) -> Measured:
    return tuple(statistics.median(values) for values in zip(*rounds, strict=True))


def said(name: str, values: Measured, named: str) -> None:
    print(f"{name:20} wall {values[0]:6.2f} s   CPU {values[1]:6.2f} s   peak {values[2]:6.0f} MiB   names {named}", flush=True)


def against_torch(folder: Path, n_rounds: int, python: str | None) -> Measured:
    """Ours, interleaved with PyTorch's own where there is one: lines for both, and the ratios."""
    rounds: dict[str, list[Measured]] = {}
    named: dict[str, str] = {}
    for _ in range(n_rounds):
        for name, run in (("bathtub", lambda: ours(folder)), ("torch", lambda: theirs(python, folder))):
            if name == "bathtub" or python:
                found, named[name] = run()
                rounds.setdefault(name, []).append(found)
    for name, values in rounds.items():
        said(f"{name}, 64 ranks", medians(values), named[name])
    if python:
        ratios = [
            sorted(mine / other for mine, other in zip(*pairs, strict=True))
            for pairs in zip(zip(*rounds["bathtub"], strict=True), zip(*rounds["torch"], strict=True), strict=True)
        ]
        for what, each in zip(("wall", "CPU", "memory"), ratios, strict=True):
            print(f"  ratio of {what}: {statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f})")
        print(f"  {BOUNDS}")
    else:
        print("PyTorch's analyser skipped: no torch")
    return medians(rounds["bathtub"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="128, 256 and 512 ranks too: 350 MB of dumps")
    parser.add_argument("--torch", default=os.environ.get("BATHTUB_TORCH_PYTHON", sys.executable), metavar="PYTHON")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        small = write(Path(scratch) / "64", 64, 2000)
        base = against_torch(small, chosen.rounds, chosen.torch if has_torch(chosen.torch) else None)
        shutil.rmtree(small)
        for n_ranks in (128, 256, 512) if chosen.large else ():
            folder = write(Path(scratch) / str(n_ranks), n_ranks, 2000)
            found, named = ours(folder)
            said(f"bathtub, {n_ranks} ranks", found, named)
            share = [here / there for here, there in zip(found, base, strict=True)]
            print(f"  {n_ranks // 64}x the ranks: CPU {share[1]:.1f}x, memory {share[2]:.1f}x (goal: linear, under 2048 MiB)")
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
