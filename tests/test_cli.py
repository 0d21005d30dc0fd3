"""The command line: fixed line shapes, exit codes, messages that say what to do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.inbox import FILES, INVENTORY, MESSAGES, write

ENV = {**os.environ, "COLUMNS": "120"}


def bathtub(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bathtub", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=ENV)


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def nightly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("cli")
    write(base / "inbox", dict(FILES))
    done = bathtub("nightly", "--inbox", base / "inbox", "--lake", base / "lake", "--out", base / "out",
                   "--tz", "UTC", "--cluster", "c1", "--from", "2026-04-01", "--to", "2026-04-01", "--json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout)[0]["exit_code"] == 0
    return base


def test_parse_gives_rows_and_ends_with_the_counts(tmp_path: Path) -> None:
    write(tmp_path, {"messages": MESSAGES})
    done = bathtub("parse", tmp_path / "messages", "--tz", "UTC", "--collected-at", "2026-04-02T00:00:00Z", "--json")
    rows = lines(done.stdout)
    assert done.returncode == 0
    assert [row["table"] for row in rows] == ["gpu_faults", "gpu_faults", "coverage", "sources"]
    assert rows[0]["row"]["seen_at"] == "2026-04-01T09:30:00Z"
    assert {key: rows[-1]["row"][key] for key in ("read", "kept", "rejected", "out_of_scope")} == {
        "read": 4, "kept": 2, "rejected": 0, "out_of_scope": 2,
    }  # fmt: skip


def test_parse_says_why_a_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"messages": MESSAGES})
    done = bathtub("parse", tmp_path / "messages", "--json")
    assert done.returncode == 3
    assert lines(done.stdout)[-1]["row"]["reason"] == "zone_required"
    assert "--tz" in done.stderr


def test_parse_reads_headerless_text_with_columns(tmp_path: Path) -> None:
    write(tmp_path, {"x.txt": "7;7;2026-04-01T08:00:00;COMPLETED\n"})
    done = bathtub("parse", tmp_path / "x.txt", "--format", "slurm_sacct", "--columns", "JobID,JobIDRaw,Start,State",
                   "--delimiter", ";", "--tz", "UTC", "--json")  # fmt: skip
    assert lines(done.stdout)[0]["row"]["job_id"] == "7"
    assert done.returncode == 0


def test_judge_gives_bursts_incidents_verdicts(tmp_path: Path) -> None:
    write(tmp_path / "in", dict(FILES))
    rows = lines(bathtub("judge", tmp_path / "in", "--tz", "UTC", "--json").stdout)
    assert sorted({str(row["table"]) for row in rows}) == ["bursts", "incidents", "verdicts"]
    verdicts = [row["row"] for row in rows if row["table"] == "verdicts"]
    assert [verdict["component"] for verdict in verdicts] == ["hbm", "unknown"]
    assert all(verdict["evidence"] for verdict in verdicts)


def test_explain_shows_job_node_device_rule_and_raw_lines(nightly: Path) -> None:
    listed = (nightly / "out" / "incidents.csv").read_text().splitlines()
    told = bathtub("explain", listed[1].split(",")[0], "--lake", nightly / "lake").stdout
    for part in ("100", "n01", "0000:3b:00", "0012345678901", "xid-48-dram-text", "nodes/n01/messages:2", "framebuffer"):
        assert part in told


def test_explain_of_nothing_says_so(nightly: Path) -> None:
    done = bathtub("explain", "inc-none", "--lake", nightly / "lake")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no incident of id" in done.stderr


def test_sql_reads_the_newest_snapshot_and_nothing_else(nightly: Path) -> None:
    done = bathtub("sql", "select job_ids, component from incidents order by 1", "--lake", nightly / "lake", "--json")
    assert [row["component"] for row in lines(done.stdout)] == ["hbm", "unknown"]
    other = bathtub("sql", "select * from read_csv('/etc/hostname')", "--lake", nightly / "lake")
    assert (other.returncode, other.stdout) == (2, "")
    assert "disabled by configuration" in other.stderr


def test_fit_prints_the_model(tmp_path: Path) -> None:
    write(tmp_path, {"cells.csv": "component,failures,exposure_h\nhbm,3,3000\n"})
    row = lines(bathtub("fit", "mtbf", tmp_path / "cells.csv", "--json").stdout)[0]
    assert row["estimate"] == 1000.0
    assert row["low"] < 1000.0 < row["high"]


def test_fit_takes_the_options_of_a_model(tmp_path: Path) -> None:
    units = "unit,entry_h,exit_h,event,vendor\na,0,100,1,x\nb,0,300,1,x\nc,0,100,0,y\nd,0,200,1,y\n"
    write(tmp_path, {"lives.csv": units})
    told = bathtub("fit", "piecewise", tmp_path / "lives.csv", "--option", "by=vendor", "--option", "cuts_h=150", "--json").stdout
    found = {(row["vendor"], row["from_h"]): row["estimate"] for row in lines(told)}
    # a failure in 100 + 150 hours of age below 150, one in 150 above; of y none in 250, one in 50
    assert found == {("x", 0): 1 / 250, ("x", 150): 1 / 150, ("y", 0): None, ("y", 150): 1 / 50}


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        (["nightly", "--inbox", "missing", "--lake", "l", "--out", "o"], 2, "no folder"),
        (["nightly", "--inbox", ".", "--lake", "l", "--out", "o", "--from", "2026-01-02"], 2, "--from and --to"),
        (["nightly", "--inbox", ".", "--lake", "../l", "--out", "../o", "--tz", "Mars/Olympus"], 2, "IANA name"),
        (["nightly", "--inbox", ".", "--lake", "../l", "--out", "o"], 2, "outside the inbox"),
        (["parse", "missing.log"], 2, "no such file"),
        (["parse"], 2, "FILES"),
        (["no-such-command"], 2, "no-such-command"),
        (["explain", "inc-1", "--lake", "nowhere"], 1, "is no lake"),
        (["fit", "no-model", "x.csv"], 2, "no model"),
    ],
)
def test_errors_name_the_remedy_and_the_code(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    done = bathtub(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert said.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_a_broken_configuration_names_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "bathtub.toml").write_text("[windows]\nburst_gap = 5\n")
    write(tmp_path / "in", {"inventory.csv": INVENTORY})
    done = bathtub("judge", tmp_path / "in", "--config", tmp_path / "bathtub.toml", "--json")
    assert done.returncode == 2
    assert "burst_gap" in json.loads(done.stderr)["error"]


def test_a_reader_that_leaves_early_is_no_failure(tmp_path: Path) -> None:
    line = "Apr  1 09:30:00 n01 kernel: NVRM: Xid (PCI:0000:3b:00): 62, pid=1, name=p, halted\n"
    write(tmp_path, {"messages": line * 20_000})
    command = f"{sys.executable} -m bathtub parse {tmp_path / 'messages'} --tz UTC --json | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=ENV)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_second_writer_ends_with_its_own_code(nightly: Path) -> None:
    from bathtub.lake import locked

    with locked(nightly / "lake"):
        done = bathtub(
            "nightly", "--inbox", nightly / "inbox", "--lake", nightly / "lake", "--out", nightly / "out", "--tz", "UTC"
        )
    assert done.returncode == 5


def test_version_and_help_answer() -> None:
    assert bathtub("--version").stdout.strip() == "0.1.0"
    assert "--lake" in bathtub("nightly", "--help").stdout
