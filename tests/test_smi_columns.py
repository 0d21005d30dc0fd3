"""Samples of `nvidia-smi --query-gpu` read as columns and read cell by cell are equal, whatever the cells hold."""

import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from bathtub.ingest import formats, nvidia_smi_csv
from bathtub.ingest._quantities import smi_fields
from tests.cases import source

NUMBERS = (
    "0",
    "1",
    "41",
    "-2",
    "69.85",
    "1.5",
    "1e3",
    "+7",
    "007",
    ".5",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "nan",
)
WORDS = (
    "Yes",
    "No",
    "yes",
    "Active",
    "Not Active",
    "None",
    "Reset",
    "Drain and Reset",
    "Maybe",
    "0x1F",
    "0x0000000000000044",
    "0x",
)
NULLS = ("", "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "ERR!", "[GPU requires reset]", "[n/a]", "  ")
UNITS = ("", " W", " C", " MHz", " us", " %", "%", " F", " bank(s)")
STAMPS = (
    "2026/03/01 08:12:38.696",
    "2026/03/29 02:30:00.000",
    "2026/10/25 02:30:00.000",
    "2026/03/01 08:12:38",
    "2027/03/01 00:00:00.000",
    "0001/01/01 00:00:00.000",
    "2026/13/01 00:00:00.000",
    "[N/A]",
    "",
)
KEYS = {
    "uuid": ("GPU-1a", "GPU-2b", "[N/A]", "GPU-0000-0"),
    "serial": ("165", "0000", "[N/A]"),
    "index": ("0", "1", "x", ""),
    "pci.bus_id": ("00000000:3B:00.0", "00000001:4F:00.0", "bad", ""),
}


def cell(name: str, chance: random.Random) -> str:
    if name == "timestamp":
        return STAMPS[0] if chance.random() < 0.7 else chance.choice(STAMPS)
    if name in KEYS:
        return chance.choice(KEYS[name])
    unit = {"W": " W", "C": "", "%": " %", "us": " us", "MHz": " MHz"}.get(smi_fields("csv")[name].unit, "")
    plain = {"flag": "Yes", "bit": "Active", "bitmask": "0x0000000000000044", "action": "None"}.get(
        smi_fields("csv")[name].kind, "41" + unit
    )
    if chance.random() < 0.95:
        return plain
    return chance.choice((*WORDS, *NULLS, *(number + chance.choice(UNITS) for number in NUMBERS)))


def output(chance: random.Random) -> str:
    names = ["timestamp", *KEYS, *chance.sample(sorted(smi_fields("csv")), chance.randint(1, 12))]
    names += chance.sample(names, chance.randint(0, 1))  # a column asked for twice
    chance.shuffle(names)
    units = {name: smi_fields("csv")[name].unit for name in names if name in smi_fields("csv")}
    header = ", ".join(f"{name} [{units[name]}]" if units.get(name) in ("W", "%", "us", "MHz") else name for name in names)
    rows = [", ".join(cell(name, chance) for name in names[: len(names) - (chance.random() < 0.05)]) for _ in range(12)]
    return "\n".join([header, *rows]) + "\n"


def read(path: Path) -> dict[str, pl.DataFrame]:
    batches = list(formats()["nvidia_smi_csv"].parse(source(path, zone="Europe/Berlin", node="n1")))
    names = ("telemetry", "observations", "inventory")
    found = {
        name: pl.concat([batch.frames[name] for batch in batches if name in batch.frames] or [pl.DataFrame()]) for name in names
    }
    return {**found, "rejects": pl.concat([batch.rejects for batch in batches])}


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], dict[str, pl.DataFrame]]:
    fast = nvidia_smi_csv.plain_samples

    def none_is_plain(*args: object) -> tuple[pl.DataFrame, pl.Series]:
        plain, mask = fast(*args)  # type: ignore[arg-type]
        return plain.clear(), mask & False

    def run(path: Path) -> dict[str, pl.DataFrame]:
        with monkeypatch.context() as patched:
            patched.setattr(nvidia_smi_csv, "plain_samples", none_is_plain)
            return read(path)

    return run


def test_both_ways_give_equal_rows(slowly: Callable[[Path], dict[str, pl.DataFrame]], tmp_path: Path) -> None:
    chance, path = random.Random("columns"), tmp_path / "smi.csv"
    for _ in range(60):
        path.write_text(output(chance))
        at_once, by_cell = read(path), slowly(path)
        for name, frame in at_once.items():
            differing = [column for column in frame.columns if not frame[column].equals(by_cell[name][column])]
            assert differing == [], (
                name,
                path.read_text(),
                frame.select("line", *differing),
                by_cell[name].select("line", *differing),
            )
