"""Frames for the warehouse: random ones that collide, made from the declared tables, and those of the simulated cluster."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl
from hypothesis import strategies as st

from bathtub import knowledge
from bathtub.adhoc import read_all
from bathtub.config import Config, Windows, load
from bathtub.nightly import Window, parameters
from bathtub.schema import Column, Table, tables
from bathtub.simulate import write_demo
from bathtub.warehouse import build, connect

Frames = dict[str, pl.DataFrame]

STARTS_AT = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
STEPS_S = (0, 0, 1, 5, 5.000001, 59, 300, 600, 601, 3600, 86400)
SOURCES = ("s1", "s2", "s3", "s4")
POOLS: dict[str, tuple[object, ...]] = {
    "node": ("n1", "N1.example.org", "n2", "10.0.0.1"),
    "failed_node": ("n1", "n2.example.org"),
    "nodes": (["n1"], ["n1", "n2"], ["n2.example.org", "n1"], []),
    "xid": (13, 31, 43, 45, 48, 63, 64, 74, 79, 94, 95, 119, 122, 145, 149, 154, 172, 500),
    "pci_bdf": ("0000:1b:00", "0000:4f:00"),
    "device_uuid": ("GPU-1", "GPU-2"),
    "device_serial": ("1650000000001", "1650000000002"),
    "device_class": ("gpu", "nic", "node"),
    "slot": ("0", "1"),
    "boot_id": ("b1", "b2"),
    "gpu_instance": (1, 5),
    "raw": ("line one", "line two"),
    "text": ("text one", "text two"),
    "memory_site": ("dram", "sram"),
    "recovery_action": (0, 1, 2),
    "job_id": ("1", "2_3"),
    "job_id_raw": ("1", "2", "7"),
    "n_gpus": (0, 2, 16),
    "day": (date(2026, 3, 1), date(2026, 3, 2)),
    "rank": (0, 1, 2),
    "pg_name": ("0", "1", ""),
    "profiling_name": ("nccl:all_reduce", "nccl:send 0->1", "nccl:coalesced", "gloo:all_reduce", "all_gather"),
    "state": (
        "scheduled",
        "started",
        "completed",
        "FAILED",
        "NODE_FAIL",
        "CANCELLED",
        "RUNNING",
        "COMPLETED",
        "OUT_OF_MEMORY",
        "NEW",
        "DOWN",
        "IDLE",
        "DRAINED",
        "MIXED",
    ),
    "state_flags": ([], ["DRAIN"], ["NOT_RESPONDING"], ["MAINTENANCE", "DRAIN"]),
    "state_set": ("DOWN", "IDLE", "DRAINED", "INVAL"),
    "reason_by": ("slurm", "root", "ann"),
    "gang_id": ("ml/PyTorchJob/a", "ml/Job/b"),
    "object_kind": ("Node", "Node", "Pod"),
    "reason": (
        "NodeNotReady",
        "NodeReady",
        "Rebooted",
        "NodeNotSchedulable",
        "DCGMHealthCode12",
        "FilesystemIsReadOnly",
        "other",
    ),
    "condition": ("Ready", "KernelDeadlock", "AcceleratedHardwareReady", "node-health-status"),
    "condition_status": ("True", "False", "Unknown", "UnschedulablePendingReboot"),
    "member_ranks": ([0, 1], [0, 1, 2], [], [1]),
    "input_sizes": ("[[1]]", "[[2]]"),
    "output_sizes": ("[[1]]", "[[2]]"),
    "input_dtypes": ('["Float"]',),
    "output_dtypes": ('["Float"]',),
    "timeout_ms": (600000,),
}
FILES: dict[str, tuple[object, ...]] = {
    "cluster": ("a", "b", "a", "b"),
    "name": ("n1/kern.log", "n1/syslog", "n1/kern.log", "dumps/rank0"),
    "dump_set": ("d1", "d1", "d2", "d1"),
    "rank": (0, 1, 1, None),
    "n_bytes": (100, 100, 200, 50),
}
"""What a source decides for all its rows, in the order of SOURCES."""
SEQUENCES = ("collective_seq_id", "p2p_seq_id", "last_enqueued", "last_started", "last_completed", "pg_id")


def cell(column: Column, chance: random.Random) -> object:
    """One value of a column out of few, so that rows collide; null now and then where it may be."""
    if column.null and chance.random() < (0.1 if column.name in ("seen_at", "xid", "raw") else 0.3):
        return None
    if column.name in POOLS:
        return chance.choice(POOLS[column.name])
    if column.dtype == "timestamp":
        return STARTS_AT + timedelta(seconds=chance.choice(STEPS_S))
    if column.dtype.startswith("list"):
        return []
    plain = {
        "string": lambda: chance.choice("xy"),
        "int64": lambda: chance.randrange(4),
        "float64": lambda: float(chance.randrange(4)),
        "bool": lambda: chance.random() < 0.5,
        "date": STARTS_AT.date,
    }
    return plain[column.dtype]()


def row(table: Table, chance: random.Random, source: int) -> dict[str, object]:
    """A row of one source: what the source decides is the same in all its rows."""
    found = {column.name: cell(column, chance) for column in table.columns}
    found |= {name: values[source] for name, values in FILES.items() if name in found}
    found |= {name: chance.choice(values) for name, values in table.domain}
    return found | {"source_id": SOURCES[source]}


def frame(table: Table, chance: random.Random, n_rows: int) -> pl.DataFrame:
    """Rows of a table with unique keys."""
    if table.name == "sources":
        rows = [row(table, chance, source) for source in range(len(SOURCES))]
        for each in rows:
            each["n_read"] = each["n_kept"] + each["n_rejected"] + each["n_out_of_scope"]  # type: ignore[operator]
    else:
        rows = [row(table, chance, chance.randrange(len(SOURCES))) for _ in repeat(None, n_rows)]
    key = table.key if table.name != "maintenance" else ("source_id", "line")  # one line is one window
    made = pl.DataFrame(rows, schema=table.polars, orient="row").unique(key, maintain_order=True)
    return made.with_columns(event_day=pl.lit(None, pl.Date))


def random_lake(seed: int, n_rows: int) -> Frames:
    """A lake of one seed."""
    chance = random.Random(seed)
    return {name: frame(table, chance, n_rows) for name, table in sorted(tables().items())}


@st.composite
def lakes(draw: st.DrawFn) -> Frames:
    """A frame of few rows for every declared table."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    return {name: frame(table, chance, draw(st.integers(0, 24))) for name, table in sorted(tables().items())}


@cache
def demo() -> Frames:
    """The lake tables of the simulated cluster."""
    with TemporaryDirectory(prefix="bathtub-demo-") as folder:
        write_demo(Path(folder), 7)
        return read_all([Path(folder, "inbox")], load(Path(folder, "bathtub.toml")))[0]


def given(lake: Mapping[str, pl.DataFrame], end_at: datetime = datetime(2100, 1, 1, tzinfo=UTC)) -> Frames:
    """All that the warehouse reads: lake tables, shipped knowledge, parameters."""
    return {**lake, **knowledge.tables(), "parameters": parameters(Config(windows=Windows()), Window(None, end_at), "test")}


@contextmanager
def warehouse(lake: Mapping[str, pl.DataFrame], threads: int = 2) -> Iterator[duckdb.DuckDBPyConnection]:
    """Every relation over a lake."""
    with connect(threads=threads) as con:
        build(con, given(lake))
        yield con
