"""All logs that carry kernel lines: no bytes break them, storms become few bursts, one line is read alike in every wrapper."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from bathtub import knowledge
from bathtub.config import Config
from bathtub.ingest import Quarantine, claimants, formats
from bathtub.nightly import parameters
from bathtub.schema import table
from bathtub.source import head
from bathtub.warehouse import build, connect
from tests.cases import TESTS, rows_of, source

LOGS = (
    "dmesg",
    "dmesg_iso",
    "dmesg_local",
    "fabric_manager",
    "journal_json",
    "journal_monotonic",
    "kmsg",
    "syslog_iso",
    "syslog_rfc3164",
    "syslog_rfc5424",
)
N_MUTATED = 2000
BITS = (b"\n", b"\x00", b"\xff\xfe", b'"', b"\\", b"[", b"{", b"9" * 40, b"NVRM: Xid (PCI", b"): 79,", b" SXid (PCI:0:", b"\\x0a")
FALLEN = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=python3, GPU has fallen off the bus."


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with a few bytes changed, pieces cut out, doubled or put in."""
    made = bytearray(content)
    for _ in range(chance.randrange(1, 6)):
        at, size = chance.randrange(len(made) + 1), chance.randrange(1, 40)
        choice = chance.randrange(4)
        if choice == 0:
            del made[at : at + size]
        elif choice == 1:
            made[at:at] = made[at : at + size]
        elif choice == 2:
            made[at:at] = chance.choice(BITS)
        elif at < len(made):
            made[at] = chance.randrange(256)
    return bytes(made)


def test_mutated_logs_raise_nothing_and_every_record_is_accounted_for(tmp_path: Path) -> None:
    chance = random.Random(4)
    cases = [(name, path.read_bytes()) for name in LOGS for path in sorted((TESTS / "ingest" / name).glob("*/input*"))]
    path, n_read = tmp_path / "input.log", 0
    for _ in range(N_MUTATED):
        name, content = chance.choice(cases)
        path.write_bytes(mutated(content, chance))
        try:
            batches = list(formats()[name].parse(source(path, zone="Europe/Berlin", node="n1")))
        except Quarantine as refused:
            assert refused.reason in {"truncated_archive", "damaged_archive"}  # noqa: PT017 - any other is an error
            continue
        lines = path.read_bytes()
        assert sum(batch.read for batch in batches) == lines.count(b"\n") + (not lines.endswith(b"\n") and lines != b"")
        n_read += sum(batch.kept + batch.rejected for batch in batches)
        assert len(claimants(head(path), path.name)) <= 1
    assert n_read > N_MUTATED


def storm(path: Path, xid: int, n_lines: int, n_bursts: int, step: timedelta) -> None:
    """Repeated lines of one GPU in so many stretches, hours apart."""
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with path.open("w") as file:
        for burst in range(n_bursts):
            for number in range(burst, n_lines, n_bursts):
                at += step
                file.write(
                    f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): {xid}, pid={number % 9}, Ch 8\n"
                )
            at += timedelta(hours=1)


def bursts(frames: Iterator[pl.DataFrame], name: str) -> list[tuple[int, int]]:
    sources = pl.DataFrame([{"source_id": name, "cluster": "default", "name": "n1/log", "n_bytes": 1}])
    empty = pl.DataFrame(schema=table("sources").polars)
    found = pl.concat(frames).with_columns(pl.lit(name).alias("source_id"), event_day=pl.lit(None, pl.Date))
    live = pl.concat([empty, sources], how="diagonal_relaxed").with_columns(event_day=pl.lit(None, pl.Date))
    with connect() as con:
        build(
            con, {**knowledge.tables(), "parameters": parameters(Config()), "gpu_faults": found, "sources": live}, ["int_bursts"]
        )
        return con.table("int_bursts").pl().select("xid", "n_lines").rows()


STORMS = [
    pytest.param(45, 6_000, 1, timedelta(seconds=1.02), id="killed programs, small"),
    pytest.param(95, 6_000, 29, timedelta(seconds=0.1), id="one bad page, small"),
    pytest.param(45, 168_924, 1, timedelta(seconds=1.02), id="killed programs of two days", marks=pytest.mark.slow),
    pytest.param(95, 800_000, 29, timedelta(seconds=0.1), id="one bad page", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("xid,n_lines,n_bursts,step", STORMS)
def test_a_storm_becomes_few_bursts(tmp_path: Path, xid: int, n_lines: int, n_bursts: int, step: timedelta) -> None:
    path = tmp_path / "storm.log"
    storm(path, xid, n_lines, n_bursts, step)
    parsed = formats()["syslog_iso"].parse(source(path))
    found = bursts((batch.frames["gpu_faults"] for batch in parsed if "gpu_faults" in batch.frames), "s")
    assert [code for code, _ in found] == [xid] * n_bursts
    assert sum(count for _, count in found) == n_lines


WRAPPED = {
    "dmesg": "[  100.500000] {}",
    "dmesg_iso": "kern  :warn  : 2026-03-01T00:00:00,500000+00:00 {}",
    "dmesg_local": "[Sun Mar  1 00:00:00 2026] {}",
    "journal_json": '{{"__REALTIME_TIMESTAMP":"1772323200500000","_TRANSPORT":"kernel","_HOSTNAME":"n1","MESSAGE":"{}"}}',
    "journal_monotonic": "[  100.500000] n1 kernel: {}",
    "kmsg": "4,17,100500000,-;{}",
    "syslog_iso": "2026-03-01T00:00:00.5+00:00 n1 kernel: [  100.500000] {}",
    "syslog_rfc3164": "Mar  1 00:00:00 n1 kernel: [  100.500000] [ T17] {}",
    "syslog_rfc5424": "<4>1 2026-03-01T00:00:00.5Z n1 kernel - - - {}",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_one_line_says_the_same_in_every_wrapper(name: str, tmp_path: Path) -> None:
    path = tmp_path / "input.log"
    path.write_text(WRAPPED[name].format(FALLEN) + "\n")
    assert [known.name for known in claimants(head(path), path.name)] == [name]
    (row,) = rows_of(formats()[name].parse(source(path, zone="UTC", node="n1")), "gpu_faults")
    assert (row["xid"], row["pci_bdf"], row["pid"], row["process"], row["node"]) == (79, "0000:3b:00", 7, "python3", "n1")
    assert row["raw"] == path.read_text().rstrip("\n")
