"""Text logs at scale: time against size, anonymous memory, and two workers beside one.

    python bench/bench_scale.py [MiB] [files]      default 1024 and 32

Printed: seconds per GiB between one, two and four times the size (a line through the origin would have them equal); the peak
of anonymous memory of each run, which the page cache and mapped files are no part of; and compressed files, each a 32nd
of the size, taken in by one process and by two.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_text import OURS, write

POLL_S = 0.02
WORKERS = """
import sys
from pathlib import Path
from bathtub.config import Cluster, Config, Limits
from bathtub.lake import Lake, locked
from bathtub.nightly import Progress, take_in
inbox, folder, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
if __name__ == "__main__":
    with locked(folder):
        lake = Lake(folder)
        lake.create()
        config = Config(cluster=Cluster(zone="UTC"), limits=Limits(threads=threads))
        print(len(take_in(inbox, lake, config, "bench", Progress())))
"""


def anonymous_mib(pid: int) -> float:
    """Anonymous memory of a process now; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon:")), 0.0)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, float, str]:
    """Wall seconds, peak of anonymous MiB and output of one process."""
    begun, peak = time.perf_counter(), 0.0
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    while child.poll() is None:
        peak = max(peak, anonymous_mib(child.pid))
        time.sleep(POLL_S)
    assert child.returncode == 0, command[:2]
    assert child.stdout is not None
    return time.perf_counter() - begun, peak, child.stdout.read()


def slope(base: Path, mib: int) -> None:
    """Time against size, and memory."""
    spent: list[float] = []
    for times in (1, 2, 4):
        folder = base / f"slope-{times}"
        path, n_faults = write(folder, "plain", mib * times)
        (folder / "lake").mkdir()
        wall, peak, told = run([sys.executable, "-c", OURS, str(path), str(folder / "lake")])
        assert int(told) == n_faults, (told, n_faults)
        spent.append(wall)
        print(f"{mib * times:6} MiB  {wall:6.2f} s  anonymous {peak:4.0f} MiB", flush=True)
        shutil.rmtree(folder)
    first, second = spent[1] - spent[0], (spent[2] - spent[1]) / 2
    print(f"slope  {first:.2f} s then {second:.2f} s per {mib} MiB, ratio {second / first:.2f}")


def workers(base: Path, mib: int, n_files: int) -> None:
    """Many compressed files with one process and with two."""
    inbox, script = base / "many", base / "workers.py"
    inbox.mkdir()
    script.write_text(WORKERS, encoding="utf-8")
    path, _ = write(base / "one", "gz", max(16, mib // n_files))
    for number in range(n_files):
        # contents that differ in their last member, so that none is a copy of another
        (inbox / f"node{number:02}.log.gz").write_bytes(path.read_bytes() + _line(number))
    spent = {}
    for n in (1, 2, 1, 2):
        lake = base / f"lake-{n}"
        shutil.rmtree(lake, ignore_errors=True)
        lake.mkdir()
        wall, _, told = run([sys.executable, str(script), str(inbox), str(lake), str(n)])
        assert int(told) == n_files, told
        spent[n] = min(wall, spent.get(n, wall))
    print(f"workers  one {spent[1]:.2f} s, two {spent[2]:.2f} s, {spent[1] / spent[2]:.2f} times as fast")


def _line(number: int) -> bytes:
    return gzip.compress(f"Mar  1 00:00:00 node{number:02} kernel: NVRM: loading\n".encode())


def main(mib: int = 1024, n_files: int = 32) -> None:
    base = Path(tempfile.mkdtemp(prefix="bathtub-bench-"))
    try:
        slope(base, mib)
        workers(base, mib, n_files)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
