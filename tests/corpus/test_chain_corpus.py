"""The whole chain over real public files: the acceptance of the first release, record by record."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from bathtub.config import load
from bathtub.lake import Lake
from bathtub.nightly import Window
from tests.inbox import csvs, run

TOML = """
[cluster]
name = "corpus"
zone = "Europe/Paris"

[[source]]
path = "gpud/dmesg-*"
node = "gpu-node-1"
"""
ALL = Window(None, datetime(2026, 12, 1, tzinfo=UTC))
FOLDERS = {"facebookresearch-gcm": "scheduler/facebookresearch-gcm", "gpud": "nvml/gpud", "real_gloo": "nccl/real_gloo"}
UNREAD = {"sample-squeue-output.txt", "LICENSE", "LICENSE-shelper"}  # the queue has no header: its columns must be given


@pytest.fixture(scope="module")
def chain(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("corpus")
    for name, folder in FOLDERS.items():
        shutil.copytree(corpus / folder, base / "inbox" / name)
    (base / "bathtub.toml").write_text(TOML)
    assert run(base, load(base / "bathtub.toml"), ALL).exit_code == 3
    return base


def account(base: Path) -> list[dict[str, object]]:
    files: list[dict[str, object]] = json.loads((base / "out" / "run.json").read_text())["files"]
    return files


def lake_rows(base: Path, name: str) -> pl.DataFrame:
    lake = Lake(base / "lake")
    files = lake.files(lake.snapshot())[name]
    return pl.concat([pl.read_parquet(file, hive_partitioning=False) for file in files])


def test_every_file_is_accounted_for_and_every_refusal_has_a_reason(chain: Path) -> None:
    for each in account(chain):
        if each["n_read"] is not None:
            assert each["n_read"] == each["n_kept"] + each["n_rejected"] + each["n_out_of_scope"]
        assert (each["status"] == "quarantined") == (each["reason"] is not None), each


def test_every_sacct_file_is_claimed(chain: Path) -> None:
    listed = {
        str(each["full_name"]).split("/")[-1]: each for each in account(chain) if "facebookresearch" in str(each["full_name"])
    }
    sacct = {name: each for name, each in listed.items() if name.startswith("sample-sacct")}
    assert len(sacct) == 9
    assert {each["format"] for each in sacct.values()} == {"slurm_sacct"}
    assert {each["reason"] for name, each in listed.items() if name in UNREAD} == {"unclaimed"}
    assert {name for name, each in listed.items() if each["format"] is None} == UNREAD
    kept = {name: (each["n_kept"], each["n_rejected"]) for name, each in sacct.items()}
    assert kept["sample-sacct-output-midnight-edge-case.rows-1-602.txt"] == (602, 0)
    assert kept["sample-sacct-one-multiline.txt"] == kept["sample-sacct-fake-line-break.txt"] == (4, 0)
    assert kept["sample-sacct-output-with-invalid-lines.txt"] == (0, 1)


def test_job_rows_have_the_published_states(chain: Path) -> None:
    name = "facebookresearch-gcm/sample-sacct-output-midnight-edge-case.rows-1-602.txt"
    source = lake_rows(chain, "sources").filter(pl.col("full_name") == name)["source_id"].item()
    jobs = lake_rows(chain, "jobs").filter(pl.col("source_id") == source)
    states = dict(jobs.group_by("state").len().iter_rows())
    assert states == {"FAILED": 122, "CANCELLED": 23, "COMPLETED": 12, "REQUEUED": 2, "TIMEOUT": 1}
    assert set(jobs.filter(pl.col("state") == "CANCELLED")["cancelled_by"]) == {"1185300516"}
    assert jobs["flags"].list.contains("key_without_submit").all()
    steps = lake_rows(chain, "job_steps").filter(pl.col("source_id") == source)
    assert dict(steps.group_by("step").len().iter_rows()) == {"extern": 148, "batch": 146, "0": 146, "7": 1, "2": 1}


def test_the_iso_dmesg_gives_its_bursts_and_one_software_incident(chain: Path) -> None:
    source = lake_rows(chain, "sources").filter(pl.col("full_name") == "gpud/dmesg-decode-iso-xid13-oom.log")["source_id"].item()
    faults = lake_rows(chain, "gpu_faults").filter(pl.col("source_id") == source)
    assert sorted(faults["xid"]) == [13] * 16 + [43]
    assert set(faults["node"]) == {"gpu-node-1"}
    claimed = {str(each["full_name"]): each["format"] for each in account(chain)}
    assert claimed["gpud/dmesg-decode-iso-xid13-oom.log"] == claimed["gpud/dmesg-decode-iso-vfs.log"] == "dmesg_iso"
    marts = Lake(chain / "lake").snapshot()["sources"]
    evidence = pl.read_parquet(chain / "lake" / "marts" / str(marts) / "incident_evidence.parquet")
    listed = pl.read_csv(chain / "out" / "incidents.csv", infer_schema=False)
    ours = listed.filter(pl.col("device_bdf") == "0000:38:00")
    assert ours["component"].to_list() == ["software"]
    told = evidence.filter(pl.col("incident_id") == ours["incident_id"].item()).unique("evidence_id")
    assert dict(told.select("code", "n_lines").iter_rows()) == {"13": 16, "43": 1}


def test_every_readable_pickle_is_a_dump(chain: Path) -> None:
    pickles = [each for each in account(chain) if "/pickle" in str(each["full_name"])]
    assert len(pickles) > 100
    assert {each["format"] for each in pickles if each["status"] != "quarantined"} == {"flight_recorder"}
    assert {each["reason"] for each in pickles if each["status"] == "quarantined"} <= {"empty_file", "truncated_pickle"}


def test_again_nothing_changes(chain: Path) -> None:
    before, snapshot = csvs(chain / "out"), Lake(chain / "lake").snapshot()
    again = run(chain, load(chain / "bathtub.toml"), ALL)
    assert (again.counts["new"], again.exit_code) == (0, 3)
    assert (csvs(chain / "out"), Lake(chain / "lake").snapshot()) == (before, snapshot)
