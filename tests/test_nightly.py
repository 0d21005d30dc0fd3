"""The whole chain: right, incremental, idempotent, unharmed by kills and by hostile files."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable

from bathtub.config import Flags, load
from bathtub.lake import Lake, LakeError, LakeLocked, locked
from bathtub.schema import tables
from tests.inbox import FILES, JOURNAL, MESSAGES, SACCT, csvs, run, write

HALTED = "Apr  1 10:00:00 n03 kernel: NVRM: Xid (PCI:0000:5e:00): 62, pid=1, name="


def rows(base: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every lake table at the current snapshot, in key order."""
    lake = Lake(base / "lake")
    found = {}
    for name, files in lake.files(lake.snapshot()).items():
        names = tables()[name].names[:-1]
        frame = pl.concat([pl.read_parquet(file, hive_partitioning=False).select(names) for file in files]) if files else None
        found[name] = sorted(frame.rows(), key=repr) if frame is not None else []
    return found


def incidents(base: Path) -> pl.DataFrame:
    return pl.read_csv(base / "out" / "incidents.csv", infer_schema=False)


def account(base: Path) -> dict[str, dict[str, object]]:
    return {each["full_name"]: each for each in json.loads((base / "out" / "run.json").read_text())["files"]}


def test_three_sources_are_one_incident(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    assert run(tmp_path).exit_code == 0
    failed = incidents(tmp_path).filter(pl.col("job_ids") == "100").row(0, named=True)
    assert (failed["component"], failed["confidence"], failed["rule_id"]) == ("hbm", "high", "xid-48-dram-text")
    assert (failed["device_serial"], failed["device_node"], failed["nodes"]) == ("0012345678901", "n01", "n01;n02")
    other = incidents(tmp_path).filter(pl.col("job_ids") == "102").row(0, named=True)
    assert (other["component"], other["cause"], other["is_failure"]) == ("unknown", "job_exit", "true")
    hbm = pl.read_csv(tmp_path / "out" / "reliability.csv").filter(pl.col("component") == "hbm")
    hours = dict(zip(hbm["exposure_kind"], hbm["device_hours"], strict=True))
    assert hours == {
        "in_service": 48.0,
        "observed": 48.0,
        "allocated": pytest.approx((16 * 5420 + 8 * 3600 + 8 * 600) / 3600, rel=1e-5),
    }


def test_the_same_command_again_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    run(tmp_path)
    before, snapshot, reports = rows(tmp_path), Lake(tmp_path / "lake").snapshot(), csvs(tmp_path / "out")
    again = run(tmp_path)
    assert again.counts["known"] == len(FILES)
    assert again.counts["new"] == 0
    assert (rows(tmp_path), Lake(tmp_path / "lake").snapshot(), csvs(tmp_path / "out")) == (before, snapshot, reports)
    assert not (tmp_path / "out" / "revisions").exists()


def test_without_the_cache_of_looks_nothing_changes_either(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    run(tmp_path)
    before = rows(tmp_path)
    (tmp_path / "lake" / "seen.json").write_text("{ broken")
    assert run(tmp_path).counts["known"] == len(FILES)
    assert rows(tmp_path) == before


def test_one_more_file_adds_only_its_rows(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    run(tmp_path)
    before = rows(tmp_path)
    write(
        tmp_path / "inbox",
        {"nodes/n03/messages": "Apr  1 10:00:00 n03 kernel: NVRM: Xid (PCI:0000:5e:00): 62, pid=1, name=x, 1\n"},
    )
    assert run(tmp_path).counts["new"] == 1
    after = rows(tmp_path)
    assert {name: len(after[name]) - len(before[name]) for name in after if len(after[name]) != len(before[name])} == {
        "gpu_faults": 1,
        "coverage": 1,
        "sources": 1,
    }
    assert all(set(map(repr, before[name])) <= set(map(repr, after[name])) for name in before)
    assert (tmp_path / "out" / "revisions" / "1" / "incidents.csv").exists()


def test_all_at_once_and_file_by_file_give_equal_reports(tmp_path: Path) -> None:
    write(tmp_path / "once" / "inbox", dict(FILES))
    run(tmp_path / "once")
    for name, content in FILES.items():
        write(tmp_path / "slow" / "inbox", {name: content})
        run(tmp_path / "slow")
    assert csvs(tmp_path / "slow" / "out") == csvs(tmp_path / "once" / "out")


def test_a_log_that_grew_and_was_rotated_replaces_its_own_rows(tmp_path: Path) -> None:
    first, last = MESSAGES.splitlines(keepends=True)[:2], MESSAGES.splitlines(keepends=True)[2:]
    write(tmp_path / "inbox", {**FILES, "nodes/n01/messages": "".join(first)})
    run(tmp_path)
    (tmp_path / "inbox/nodes/n01/messages").unlink()
    write(tmp_path / "inbox", {"nodes/n01/messages-20260401.gz": "".join(first) + "".join(last)})
    assert run(tmp_path).counts["grown"] == 1
    write(tmp_path / "whole" / "inbox", {**FILES, "nodes/n01/messages": MESSAGES})
    run(tmp_path / "whole")
    assert len(rows(tmp_path)["gpu_faults"]) == len(rows(tmp_path / "whole")["gpu_faults"]) == 2
    assert incidents(tmp_path)["incident_id"].to_list() == incidents(tmp_path / "whole")["incident_id"].to_list()


def test_copies_and_prefixes_in_one_inbox_add_nothing(tmp_path: Path) -> None:
    write(
        tmp_path / "inbox",
        {**FILES, "z_copy/messages": MESSAGES, "nodes/n01/messages.1": "".join(MESSAGES.splitlines(keepends=True)[:2])},
    )
    counts = run(tmp_path).counts
    assert (counts["copy"], counts["contained"]) == (1, 1)
    assert len(rows(tmp_path)["gpu_faults"]) == 2


def test_a_corrected_table_replaces_the_old_one(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    run(tmp_path)
    write(tmp_path / "inbox", {"plant/inventory.csv": FILES["plant/inventory.csv"].replace("0012345678901", "0099999999999")})
    assert run(tmp_path).counts["replaced"] == 1
    assert {row[12] for row in rows(tmp_path)["inventory"]} == {"0099999999999", "0012345678902"}
    assert "0099999999999" in incidents(tmp_path)["device_serial"].to_list()


def test_overlapping_exports_give_each_attempt_once(tmp_path: Path) -> None:
    running = SACCT.replace("2026-04-01T09:30:30|5420|FAILED|134:0", "Unknown|3000|RUNNING|0:0")
    write(tmp_path / "inbox", {**FILES, "scheduler/early.txt": running})
    run(tmp_path)
    assert incidents(tmp_path).filter(pl.col("job_ids") == "100").height == 1


def test_a_file_without_a_zone_is_quarantined_until_one_is_given(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    assert run(tmp_path, load(None, Flags(cluster="c1"))).exit_code == 3
    assert account(tmp_path)["nodes/n01/messages"]["reason"] == "zone_required"
    assert run(tmp_path).exit_code == 0
    write(tmp_path / "fresh" / "inbox", dict(FILES))
    run(tmp_path / "fresh")
    assert csvs(tmp_path / "out")["incidents.csv"] == csvs(tmp_path / "fresh" / "out")["incidents.csv"]


def test_hostile_files_are_reported_and_stop_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    order = f"touch {marker}".encode()
    hostile = {
        "bad/empty": b"",
        "bad/cut.gz": gzip.compress(MESSAGES.encode() * 50)[:-40],
        "bad/unknown.bin": bytes(range(1, 256)) * 20,
        "bad/rank_0": b"\x80\x02cos\nsystem\nX" + len(order).to_bytes(4, "little") + order + b"\x85R.",
        "bad/bomb.gz": gzip.compress(bytes(80 << 20), 9),
        "nodes/n03/messages": HALTED.encode() + b"\xff\xfe\x00x, 1\r\n\xff\xff\n",
    }
    write(tmp_path / "inbox", {**FILES, **hostile})
    (tmp_path / "inbox" / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "inbox" / "pipe")
    config = tmp_path / "bathtub.toml"
    config.write_text('cluster = {name = "c1", zone = "UTC"}\nlimits = {max_expanded_bytes = 67108864}\n')
    assert run(tmp_path, load(config)).exit_code == 3
    reasons = {name: each["reason"] for name, each in account(tmp_path).items() if each["status"] == "quarantined"}
    assert reasons == {
        "bad/empty": "empty_file",
        "bad/cut.gz": "truncated_archive",
        "bad/unknown.bin": "unclaimed",
        "bad/rank_0": "pickle_global",
        "bad/bomb.gz": "expanded_too_large",
        "loop": "not_a_file",
        "pipe": "not_a_file",
    }
    assert not marker.exists()
    kept = account(tmp_path)["nodes/n03/messages"]
    assert (kept["n_read"], kept["n_kept"], kept["n_out_of_scope"]) == (2, 1, 1)
    assert len(incidents(tmp_path)) == 3


def test_every_file_accounts_for_every_record(tmp_path: Path) -> None:
    write(tmp_path / "inbox", {**FILES, "scheduler/broken.txt": SACCT + "103|103|not a row\n"})
    run(tmp_path)
    for each in account(tmp_path).values():
        assert each["n_read"] == each["n_kept"] + each["n_rejected"] + each["n_out_of_scope"]
    assert account(tmp_path)["scheduler/broken.txt"]["n_rejected"] == 1


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    write(tmp_path / "inbox", dict(FILES))
    with locked(tmp_path / "lake"), pytest.raises(LakeLocked):
        run(tmp_path)


def test_a_folder_that_is_no_lake_is_named(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="is no lake"):
        Lake(tmp_path).snapshot()


CHILD = """
import sys
from pathlib import Path
from bathtub import nightly
from tests.inbox import run
nightly.BATCH_FILES = 1
run(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("moment", [0.15, 0.3, 0.5, 0.7, 0.9])
def test_a_killed_run_leaves_a_readable_lake_and_the_next_one_ends_alike(tmp_path: Path, moment: float, unkilled: Path) -> None:
    """The moment is a share of the commits of an unkilled run: the child dies when its log folders hold that many."""
    base = tmp_path / "killed"
    write(base / "inbox", inbox_of_many())
    total = commits(unkilled)
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(base)], cwd=Path(__file__).parents[1], start_new_session=True)
    while child.poll() is None and commits(base) < moment * total:
        time.sleep(0.002)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if Path(base, "lake", "tables", "sources").exists():
        Lake(base / "lake").files(Lake(base / "lake").snapshot())
    run(base)
    assert csvs(base / "out") == csvs(unkilled / "out")
    assert rows(base) == rows(unkilled)


def inbox_of_many() -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = dict(FILES)
    for number in range(4, 12):
        name = f"n{number:02}"
        files[f"nodes/{name}/messages"] = MESSAGES.replace("n01", name)
        files[f"nodes/{name}/journal.log"] = JOURNAL.replace("n02", name)
    return files


def commits(base: Path) -> int:
    return sum(1 for _ in base.glob("lake/tables/*/_delta_log/*.json"))


@pytest.fixture(scope="module")
def unkilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("unkilled")
    write(base / "inbox", inbox_of_many())
    subprocess.run([sys.executable, "-c", CHILD, str(base)], cwd=Path(__file__).parents[1], check=True)
    return base


def test_two_readers_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "one" / "inbox", inbox_of_many())
    run(tmp_path / "one")
    monkeypatch.setattr("bathtub.nightly.PARALLEL_BYTES", 0)
    write(tmp_path / "two" / "inbox", inbox_of_many())
    run(tmp_path / "two")
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert csvs(tmp_path / "two" / "out") == csvs(tmp_path / "one" / "out")


def test_compaction_keeps_every_row_and_names_a_snapshot(tmp_path: Path) -> None:
    for name, content in inbox_of_many().items():
        write(tmp_path / "inbox", {name: content})
        if name.startswith("nodes/n0"):
            run(tmp_path)
    run(tmp_path)
    lake = Lake(tmp_path / "lake")
    before, reports = rows(tmp_path), csvs(tmp_path / "out")
    n_files = {name: len(files) for name, files in lake.files(lake.snapshot()).items()}
    with locked(tmp_path / "lake"):
        assert lake.maintain("test", max_files=4)
    assert rows(tmp_path) == before
    assert sum(len(files) for files in lake.files(lake.snapshot()).values()) < sum(n_files.values())
    run(tmp_path)
    assert (rows(tmp_path), csvs(tmp_path / "out")) == (before, reports)


def test_a_run_killed_while_compacting_is_put_right(tmp_path: Path) -> None:
    write(tmp_path / "inbox", inbox_of_many())
    run(tmp_path)
    before, snapshot = rows(tmp_path), Lake(tmp_path / "lake").snapshot()
    DeltaTable(Lake(tmp_path / "lake").uri("coverage")).optimize.compact()  # and then it died, before `sources`
    assert Lake(tmp_path / "lake").snapshot() == snapshot
    run(tmp_path)
    assert rows(tmp_path) == before
