"""`bathtub.open` gives the marts of a lake's newest snapshot, by item and by attribute, and imports nothing until then."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import bathtub
from bathtub.lake import Lake, LakeError

FRAME = pl.DataFrame({"incident_id": ["inc-1"]})


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    Lake(tmp_path).create()
    folder = tmp_path / "marts" / str(Lake(tmp_path).snapshot()["sources"])
    folder.mkdir(parents=True)
    FRAME.write_parquet(folder / "incidents.parquet")
    return tmp_path


def test_marts_are_had_by_item_and_by_attribute(lake: Path) -> None:
    marts = bathtub.open(str(lake))
    assert marts.names == ("incidents",)
    assert marts["incidents"].equals(marts.incidents)
    assert marts.incidents.equals(FRAME)


def test_a_mart_that_is_not_there_names_those_that_are(lake: Path) -> None:
    with pytest.raises(AttributeError, match="no mart 'incident'; there are incidents"):
        _ = bathtub.open(lake).incident


def test_what_is_opened_stays_when_the_files_go(lake: Path) -> None:
    marts = bathtub.open(lake)
    for path in lake.rglob("*.parquet"):
        path.unlink()
    assert marts.incidents.equals(FRAME)


def test_no_lake_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(LakeError):
        bathtub.open(tmp_path / "nowhere")


def test_the_package_itself_imports_nothing_heavy() -> None:
    script = "import sys, bathtub; print([name for name in ('polars', 'duckdb', 'deltalake') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
