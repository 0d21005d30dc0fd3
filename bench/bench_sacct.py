"""`sacct -P` of 30 columns to typed rows in the lake, beside DuckDB's copy of the same file as text to Parquet.

    python bench/bench_sacct.py [MiB] [rounds]      default 500 and 5

Each candidate is a whole process (start, imports, reading, writing); both run once per round, in turn, and the order
rotates. Printed: medians of wall, CPU and peak memory with their ratio, least and most. The rows are counted each time.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

SEED = 20260301
CHUNK_JOBS = 40_000
STEPS = ("", ".batch", ".extern", ".0")
LIMIT = """
import sys, duckdb
con = duckdb.connect()
con.sql("SET threads=2"), con.sql("SET enable_progress_bar=false"), con.sql("SET preserve_insertion_order=false")
con.sql(f"copy (from read_csv('{sys.argv[1]}', delim='|', all_varchar=true, header=true, quote='', escape=''))"
        f" to '{sys.argv[2]}/rows.parquet' (format parquet, compression zstd)")
print(con.sql(f"select count(*) from '{sys.argv[2]}/rows.parquet'").fetchall()[0][0])
"""
OURS = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from bathtub.intake import Intake, discover, take
from bathtub.config import Config
from bathtub.lake import Change, Lake, locked
import polars as pl
from bathtub.schema import table
from bathtub.spool import Spool
inbox, folder = Path(sys.argv[1]).parent, Path(sys.argv[2])
with locked(folder):
    lake = Lake(folder)
    lake.create()
    tasks, _ = Intake(Config(), pl.DataFrame(schema=table("sources").polars), {}).decide(discover(inbox))
    spools = [Path(folder, "spool", str(number)) for number in range(len(tasks))]
    outcomes = [take(task, spool) for task, spool in zip(tasks, spools)]
    rows = pl.DataFrame([each.row for each in outcomes], schema=table("sources").polars)
    lake.commit(Change([Spool(each) for each in spools], rows, rows.clear()), "bench")
print(sum(each.row["n_kept"] for each in outcomes))
"""


def jobs(first: int, n: int, chance: np.random.Generator) -> pl.DataFrame:
    """The cells of n jobs and their steps, in the columns' order."""
    submit = 1_748_000_000 + first * 3 + chance.integers(0, 600, n)
    start, run = submit + chance.integers(0, 7200, n), chance.integers(1, 200_000, n)
    node, width = chance.integers(1, 900, n), 2 ** chance.choice(7, n, p=[0.6, 0.14, 0.1, 0.07, 0.05, 0.03, 0.01])
    states = chance.choice(
        ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED by 10021", "OUT_OF_MEMORY"],
        n,
        p=[0.7, 0.12, 0.05, 0.02, 0.1, 0.01],
    )
    base = pl.DataFrame({
        "job": np.arange(first, first + n) + 4_000_000, "Submit": submit, "Start": start, "End": start + run, "ElapsedRaw": run,
        "Suspended": "00:00:00", "State": states, "node": node, "width": width, "user": chance.integers(0, 300, n),
        "name": chance.integers(0, 20_000, n), "code": chance.integers(0, 3, n), "cpu": chance.integers(1, 99, n),
        "rss": chance.integers(1000, 90_000_000, n),
    }).join(pl.DataFrame({"step": STEPS}), how="cross", maintain_order="left")  # fmt: skip
    base = base.with_columns(width=pl.when(pl.col("step") == ".batch").then(1).otherwise("width"))
    one = pl.col("width") == 1
    hosts = (
        pl.when(one)
        .then(pl.format("gpu{}", "node"))
        .otherwise(pl.format("gpu[{}-{}]", "node", pl.col("node") + pl.col("width") - 1))
    )
    counts = [pl.col("width") * each for each in (96, 96, 8, 8, 1900, 1)]
    tres = pl.format("billing={},cpu={},gres/gpu:h100={},gres/gpu={},mem={}G,node={}", *counts)
    usage = ("cpu", pl.col("rss") * 3, "rss", pl.col("rss") * 2)
    is_job, user = pl.col("step") == "", pl.format("u{}", "user")
    return base.select(
        JobID=pl.format("{}{}", "job", "step"),
        JobIDRaw=pl.format("{}{}", "job", "step"),
        Submit="Submit",
        Start="Start",
        End="End",
        ElapsedRaw="ElapsedRaw",
        Suspended="Suspended",
        State="State",
        ExitCode=pl.format("{}:0", "code"),
        DerivedExitCode=pl.when(is_job).then(pl.format("{}:0", "code")),
        NNodes="width",
        NodeList=hosts,
        FailedNode=pl.when(is_job & (pl.col("State") == "NODE_FAIL")).then(pl.format("gpu{}", "node")),
        AllocTRES=tres,
        ReqTRES=pl.when(is_job).then(tres),
        ReqMem=pl.when(is_job).then(pl.lit("1900G")),
        Timelimit=pl.when(is_job).then(pl.lit("2-00:00:00")),
        Restarts=pl.when(is_job).then(pl.lit("0")),
        Partition=pl.when(is_job).then(pl.lit("h100")),
        Account=pl.lit("research"),
        User=pl.when(is_job).then(user),
        QOS=pl.when(is_job).then(pl.lit("normal")),
        NCPUS=pl.col("width") * 96,
        UID=pl.when(is_job).then(pl.col("user") + 10_000),
        TotalCPU=pl.format("{}:00:00", "cpu"),
        MaxRSS=pl.when(~is_job).then(pl.format("{}K", "rss")),
        TRESUsageInTot=pl.when(~is_job).then(pl.format("cpu={}:00:00,energy=0,fs/disk={},mem={}K,pages=0,vmem={}K", *usage)),
        Reason=pl.when(is_job).then(pl.lit("None")),
        SubmitLine=pl.when(is_job).then(
            pl.format("sbatch -N {} --gpus-per-node=8 --qos normal runs/{}/train.sh", "width", "name")
        ),
        JobName=pl.when(is_job).then(pl.format("pretrain-{}", "name")).otherwise(pl.col("step").str.strip_prefix(".")),
    )


def write(path: Path, n_bytes: int) -> int:
    """A file of at least that size; the number of its records."""
    chance, first, n_rows = np.random.default_rng(SEED), 0, 0
    with path.open("wb") as file:
        while file.tell() < n_bytes:
            rows = jobs(first, CHUNK_JOBS, chance)
            rows.write_csv(file, separator="|", quote_style="never", include_header=first == 0)
            first, n_rows = first + CHUNK_JOBS, n_rows + rows.height
    return n_rows


def run(script: str, path: Path, n_rows: int) -> tuple[float, float, float]:
    """Wall and CPU seconds and peak MiB of one process with a fresh folder, its row count checked."""
    with tempfile.TemporaryDirectory(prefix="bathtub-bench-", dir=path.parents[1]) as folder:
        begun = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-c", script, str(path), folder], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        counted = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
    assert status == 0, status
    assert int(counted) == n_rows, (counted, n_rows)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def line(name: str, unit: str, ours: list[float], limit: list[float]) -> str:
    """One measure of both, and their ratio within each round."""
    ratios = [one / other for one, other in zip(ours, limit, strict=True)]
    spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return f"{name:6} bathtub {median(ours):8.1f} {unit:4} duckdb {median(limit):8.1f} {unit:4} ratio {spread}"


def main(mib: int = 500, rounds: int = 5) -> None:
    base = Path(tempfile.mkdtemp(prefix="bathtub-bench-"))
    try:
        (base / "inbox").mkdir()
        path = base / "inbox" / "sacct.txt"
        n_rows = write(path, mib << 20)
        found: dict[str, list[tuple[float, float, float]]] = {"ours": [], "limit": []}
        for number in range(rounds):
            order = [("ours", OURS), ("limit", LIMIT)]
            for name, script in order if number % 2 else order[::-1]:
                found[name].append(run(script, path, n_rows))
        print(f"sacct -P, {path.stat().st_size / (1 << 20):.0f} MiB, {n_rows} rows, {rounds} rounds, warm page cache")
        for at, (name, unit) in enumerate((("wall", "s"), ("CPU", "s"), ("memory", "MiB"))):
            print(line(name, unit, *([each[at] for each in found[who]] for who in ("ours", "limit"))))
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
