"""Whole clusters from raw files to reports: tests/end_to_end/<scenario>/{inputs/, bathtub.toml, expect/<report>.csv}.

`inputs/` is the inbox of one nightly run over the civil day 2026-04-01, collected the day after. An expected report names the
columns compared, and has its rows in the report's order; `bathtub.toml` may be left out.
"""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from bathtub.config import Flags, load
from tests.cases import TESTS, read_table
from tests.inbox import COLLECTED, run

SCENARIOS = sorted(path for path in (TESTS / "end_to_end").glob("*") if path.is_dir())


def inbox(scenario: Path, base: Path) -> None:
    """The inputs of a scenario as an inbox, with a fixed time of collection."""
    shutil.copytree(scenario / "inputs", base / "inbox")
    for path in (base / "inbox").rglob("*"):
        os.utime(path, (COLLECTED, COLLECTED))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_cluster_gives_its_reports(scenario: Path, tmp_path: Path) -> None:
    inbox(scenario, tmp_path)
    written = scenario / "bathtub.toml"
    config = load(written if written.exists() else None, Flags(tz="UTC", cluster="c1"))
    assert run(tmp_path, config).exit_code == 0
    for expected in sorted((scenario / "expect").glob("*.csv")):
        header, rows = read_table(expected)
        found = pl.read_csv(tmp_path / "out" / expected.name, infer_schema=False).select(header)
        assert [[cell or "" for cell in row] for row in found.iter_rows()] == rows, expected.name
