"""A simulated cluster → the whole nightly run → what was judged beside what was planted: figures, confusions, disagreements.

The right verdict of each planted incident is what the written files allow (truth/incidents.csv), so a source that is left out
makes more of them unknowable, not wrong. Nothing here is timed but the parts of the run.

    python bench/bench_truth.py [--nodes 64] [--days 30] [--seeds 1] [--rate-factor 20] [--missing kernel] [--keep DIR]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from bathtub import config
from bathtub.nightly import Window, nightly
from bathtub.simulate.full import Settings, write_cluster
from bathtub.simulate.full.score import Pair, confusion, disagreements, matched, read, score
from bathtub.simulate.full.settings import STARTED_AT, ZONE, ZONE_NAME

FIRST_SEED = 7


def judged(folder: Path, settings: Settings) -> list[Pair]:
    """Simulates one cluster below `folder`, runs nightly on it, and matches what it says with what was planted."""
    began = time.monotonic()
    write_cluster(folder, settings)
    simulated = time.monotonic()
    first = STARTED_AT.astimezone(ZONE).date()
    window = Window.of(ZONE_NAME, None, first, date.fromordinal(first.toordinal()) + timedelta(days=settings.n_days - 1))
    result = nightly(folder / "inbox", folder / "lake", folder / "out", config.load(folder / "bathtub.toml"), window)
    print(
        f"seed {settings.seed}: simulated in {simulated - began:.0f} s, judged in {time.monotonic() - simulated:.0f} s;", end=" "
    )
    print(f"exit code {result.exit_code}, {sum(result.counts.values())} files, {result.counts['quarantined']} quarantined")
    for finding in (*result.findings, *result.warnings):
        print(f"  {finding}")
    return matched(read(folder / "truth" / "incidents.csv"), read(folder / "out" / "incidents.csv"))


def report(pairs: Sequence[Pair]) -> None:
    """Figures, the confusion table, and every disagreement."""
    for name, value in score(pairs).items():
        print(f"{name:28} {'-' if value is None else f'{value:.3f}' if isinstance(value, float) else value}")
    print("\nexpected, named, how often (- is nothing)")
    for (expected, named), number in sorted(confusion(pairs).items()):
        print(f"  {expected:16} {named:16} {number:5}{'' if expected == named else '  <'}")
    print("\ndisagreements")
    for row in disagreements(pairs):
        print("  " + " | ".join(row.values()))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=1, help="how many clusters")
    parser.add_argument("--rate-factor", type=float, default=20.0)
    parser.add_argument("--floor", type=float, default=6.0, help="added to the published count of each component")
    parser.add_argument("--missing", action="append", default=[], choices=["kernel", "recorder", "scheduler"])
    parser.add_argument("--corruption", action="store_true")
    parser.add_argument("--keep", type=Path, help="folder that keeps the clusters")
    chosen = parser.parse_args(arguments)
    pairs: list[Pair] = []
    for seed in range(FIRST_SEED, FIRST_SEED + chosen.seeds):
        settings = Settings(
            seed=seed,
            n_nodes=chosen.nodes,
            n_days=chosen.days,
            rate_factor=chosen.rate_factor,
            floor=chosen.floor,
            missing=frozenset(chosen.missing),
            has_corruption=chosen.corruption,
        )
        with tempfile.TemporaryDirectory() as temporary:
            pairs += judged((chosen.keep or Path(temporary)) / f"seed-{seed}", settings)
    report(pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
