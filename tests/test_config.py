"""bathtub.toml: what a file of the inbox is told by its path, and what is refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bathtub.config import ConfigError, Flags, load

TOML = """
[cluster]
name = "alpha"
zone = "Europe/Berlin"

[[source]]
path = "nodes/{node}/**"

[[source]]
path = "dumps/**/job_{job_id}/*"

[[source]]
path = "west/*.txt"
cluster = "beta"
zone = "America/Los_Angeles"
format = "slurm_sacct"
columns = ["JobID", "State"]
delimiter = ";"
"""


def loaded(tmp_path: Path, text: str = TOML, flags: Flags | None = None) -> object:
    (tmp_path / "bathtub.toml").write_text(text)
    return load(tmp_path / "bathtub.toml", flags)


def test_the_first_rule_that_matches_holds(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    assert config.settings("nodes/gpu-a01/kern.log").node == "gpu-a01"
    assert config.settings("dumps/2026/job_77/nccl_trace_rank_0").job_id == "77"
    assert config.settings("dumps/job_78/nccl_trace_rank_0").job_id == "78"
    west = config.settings("west/sacct.txt")
    assert (west.cluster, west.zone, west.format, west.columns) == (
        "beta",
        "America/Los_Angeles",
        "slurm_sacct",
        ("JobID", "State"),
    )
    other = config.settings("west/deep/sacct.txt")
    assert (other.cluster, other.zone, other.node, other.format) == ("alpha", "Europe/Berlin", None, None)


def test_a_flag_stands_above_the_file_but_not_above_a_sources_own_zone(tmp_path: Path) -> None:
    config = loaded(tmp_path, flags=Flags(cluster="gamma", tz="UTC"))
    assert config.settings("nodes/x/y").zone == "UTC"
    assert config.settings("west/sacct.txt").zone == "America/Los_Angeles"
    assert {config.settings(name).cluster for name in ("nodes/x/y", "west/sacct.txt", "z")} == {"gamma"}


@pytest.mark.parametrize(
    "text, said",
    [
        ("[cluster]\nnam = 'x'\n", "nam"),
        ("[cluster]\nzone = 'Nowhere/Town'\n", "Nowhere/Town"),
        ("[[source]]\nformat = 'x'\n", "path"),
        ("[windows]\nburst_gap_s = 'five'\n", "burst_gap_s"),
        ("[cluster]\nnode_name = '('\n", "node_name"),
        ("[cluster\n", "bathtub.toml"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        loaded(tmp_path, text)


def test_a_zone_that_depends_on_the_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="localtime"):
        loaded(tmp_path, "[cluster]\nzone = 'localtime'\n")


def test_a_boot_is_told_by_the_rule_of_its_file_and_over_it_by_the_flag(tmp_path: Path) -> None:
    text = '[[source]]\npath = "crashes/*.dmesg"\nbooted_at = 2026-01-31T08:15:00Z\n'
    told, flagged = datetime(2026, 1, 31, 8, 15, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    assert loaded(tmp_path, text).settings("crashes/n1.dmesg").booted_at == told
    assert loaded(tmp_path, text).settings("other/n1.dmesg").booted_at is None
    assert loaded(tmp_path, text, Flags(booted_at=flagged)).settings("crashes/n1.dmesg").booted_at == flagged
