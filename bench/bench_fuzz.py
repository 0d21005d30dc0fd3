"""Damaged inputs of each format, as many as there is patience for: what was read, what was refused, and how fast.

    python bench/bench_fuzz.py [inputs per format] [format …]      default 2000, all; 200000 takes a night

Ends at the first exception that is no refusal, and names the input: equal numbers give equal inputs.
"""

import sys
import tempfile
import time
from pathlib import Path

from bathtub.ingest import formats
from tests.damage import outcomes


def main(n: int = 2000, *names: str) -> None:
    for name in names or formats():
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="bathtub-fuzz-") as folder:
            found = outcomes(name, n, Path(folder))
        spent = time.perf_counter() - begun
        print(f"{name:24} {found['read']:7} read, {found['refused']:7} refused, {1000 * spent / n:6.2f} ms each", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2000, *sys.argv[2:])
