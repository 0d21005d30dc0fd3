"""The simulated cluster: equal seeds give equal files, our own readers take every one, and the truth agrees with them."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from bathtub.config import load
from bathtub.demo import COLUMNS, compare, score
from bathtub.ingest import Batch, claim
from bathtub.ingest._messages import xid
from bathtub.simulate import kernel, write_demo
from bathtub.simulate.cluster import NODES, gpus, rng
from bathtub.simulate.jobs import schedule
from bathtub.source import MAX_EXPANDED, Source, digest, head, identify, logical_name, named_date
from tests.cases import rows_of

SEED = 7
TREES = ("nodes", "scheduler", "plant", "dumps")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, SEED)
    return folder


@pytest.fixture(scope="module")
def batches(demo: Path) -> dict[str, list[Batch]]:
    """The batches of each file, read by the one format that claims it under the demo's own configuration."""
    return {name: list(claim(head(source.path), name).parse(source)) for name, source in sources(demo)}


def sources(demo: Path) -> Iterator[tuple[str, Source]]:
    config = load(demo / "bathtub.toml")
    inbox = demo / "inbox"
    for path in sorted(path for path in inbox.rglob("*") if path.is_file()):
        name = path.relative_to(inbox).as_posix()
        settings = config.settings(name)
        content_id, n_bytes, _ = digest(path, MAX_EXPANDED)
        collected_at = named_date(name) or datetime.fromtimestamp(path.stat().st_mtime, UTC)
        source_id = identify(settings.cluster, content_id, logical_name(name))
        yield name, Source(path, name, settings, collected_at, content_id, source_id, n_bytes)


def rows(batches: dict[str, list[Batch]], table: str) -> list[dict[str, object]]:
    return [row for each in batches.values() for row in rows_of(each, table)]


def truth(demo: Path) -> list[dict[str, str]]:
    with (demo / "truth.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_equal_seeds_give_equal_bytes_and_times(demo: Path, tmp_path: Path) -> None:
    write_demo(tmp_path, SEED)
    assert snapshot(tmp_path) == snapshot(demo)


def test_another_seed_gives_another_cluster(demo: Path, tmp_path: Path) -> None:
    write_demo(tmp_path, SEED + 1)
    assert (tmp_path / "truth.csv").read_bytes() != (demo / "truth.csv").read_bytes()


def test_any_seed_finds_room_for_the_plan() -> None:
    for seed in range(12):
        incidents, attempts = schedule(seed)
        spans: dict[str, list[tuple[datetime, datetime]]] = {}
        for attempt in attempts:
            for node in attempt.nodes:
                assert attempt.started_at is not None
                spans.setdefault(node, []).append((attempt.started_at, attempt.ended_at))
        for taken in map(sorted, spans.values()):
            assert all(end <= start for (_, end), (start, _) in pairwise(taken)), seed
        assert all(incident.attempts or not incident.row.n_nodes for incident in incidents)


def test_every_file_is_claimed_once_and_read_whole(batches: dict[str, list[Batch]]) -> None:
    assert {name.split("/")[0] for name in batches} == set(TREES)
    assert not rows(batches, "rejects")


def test_every_planted_fault_line_is_a_fault_row(demo: Path, batches: dict[str, list[Batch]]) -> None:
    """The texts of the scripts are read by the grammar, on the right node and within a second of their time."""
    planted = {each["planted_id"]: each for each in truth(demo)}
    faults = rows(batches, "gpu_faults")
    assert all(row["time_quality"] in ("exact", "derived") for row in faults)
    for incident in schedule(SEED)[0]:
        script = kernel.SCRIPTS.get(incident.row.script or "", ())
        started_at = datetime.fromisoformat(planted[incident.row.planted_id]["started_at"])
        for say in (say for say in script if say.xid is not None):
            times = [row["seen_at"] for row in faults if row["xid"] == say.xid and row["node"] == incident.node]
            first = started_at + timedelta(seconds=say.after_s)
            assert any(abs(seen_at - first) <= timedelta(seconds=1) for seen_at in times), (incident.row.planted_id, say.xid)


def test_no_fault_is_seen_that_was_not_planted(demo: Path, batches: dict[str, list[Batch]]) -> None:
    nodes = {each["node"]: [] for each in truth(demo)}
    for each in truth(demo):
        nodes[each["node"]].append(datetime.fromisoformat(each["started_at"]))
    for row in rows(batches, "gpu_faults"):
        assert any(timedelta() <= row["seen_at"] - start < timedelta(minutes=15) for start in nodes[row["node"]]), row["raw"]


@pytest.mark.parametrize("name", sorted(kernel.SCRIPTS))
def test_the_grammar_reads_each_script(name: str) -> None:
    incident = next(each for each in schedule(SEED)[0] if each.row.script == name)
    for line in kernel.lines(incident, gpus(SEED)[incident.node], rng(SEED, name)):
        read = xid.parse(line.text)
        assert (read is not None) == ("Xid" in line.text or "fallen off the bus" in line.text), line.text
        assert not isinstance(read, xid.Reject), line.text
        if read is not None:
            assert read["pci_bdf"] in line.text
            assert read["text"]


def test_the_truth_agrees_with_the_scheduler(demo: Path, batches: dict[str, list[Batch]]) -> None:
    jobs = rows(batches, "jobs")
    for each in truth(demo):
        for job_id in filter(None, each["job_ids"].split(";")):
            closed = [row for row in jobs if row["job_id"] == job_id and row["ended_at"] is not None]
            assert any(each["node"] in row["nodes"] for row in closed), each
    assert all(row["is_state_known"] for row in jobs)
    assert any("|" in str(row["job_name"]) for row in jobs)


def test_a_job_over_midnight_is_first_running_then_final(batches: dict[str, list[Batch]]) -> None:
    jobs = rows(batches, "jobs")
    running = {(row["job_id"], row["submitted_at"]) for row in jobs if row["state"] == "RUNNING"}
    final = {(row["job_id"], row["submitted_at"]) for row in jobs if row["state"] == "COMPLETED"}
    assert running & final


def test_the_requeued_job_has_two_attempts(demo: Path, batches: dict[str, list[Batch]]) -> None:
    job_id = next(each["job_ids"] for each in truth(demo) if each["planted_id"] == "d-off-the-bus")
    states = {(row["submitted_at"], row["state"]) for row in rows(batches, "jobs") if row["job_id"] == job_id}
    assert [state for _, state in sorted(states) if state != "RUNNING"] == ["NODE_FAIL", "COMPLETED"]


def test_the_truth_agrees_with_the_inventory(demo: Path, batches: dict[str, list[Batch]]) -> None:
    """A planted serial stood in that slot at that time, and serials are text with their zeros."""
    # Kernel lines that name a GPU are sightings: they know no day of service.
    inventory = [row for row in rows(batches, "inventory") if row["in_service_at"] is not None]
    assert any(str(row["device_serial"]).startswith("0") for row in inventory)
    assert all(len(str(row["device_serial"])) == 13 for row in inventory)
    for each in (each for each in truth(demo) if each["device_serial"]):
        seen_at = datetime.fromisoformat(each["started_at"])
        stood = [
            row["device_serial"]
            for row in inventory
            if (row["node"], row["pci_bdf"]) == (each["node"], each["pci_bdf"])
            and row["in_service_at"] <= seen_at
            and (row["removed_at"] is None or seen_at < row["removed_at"])
        ]
        assert stood == [each["device_serial"]]


def test_the_planned_incident_is_inside_its_window(demo: Path, batches: dict[str, list[Batch]]) -> None:
    (planned,) = (each for each in truth(demo) if each["is_planned"] == "true")
    seen_at = datetime.fromisoformat(planned["started_at"])
    windows = [row for row in rows(batches, "maintenance") if row["node"] == planned["node"]]
    assert any(row["started_at"] <= seen_at < row["ended_at"] for row in windows)


def test_one_node_has_two_days_without_logs(batches: dict[str, list[Batch]]) -> None:
    days: dict[object, set[object]] = {}
    for row in rows(batches, "coverage"):
        days.setdefault(row["node"], set()).add(row["day"])
    assert {node: len(seen) for node, seen in days.items()} == {
        node: 13 if node == "gpu-a08" else 15 for node in NODES
    }  # UTC days


def test_the_dumps_hold_one_rank_that_never_joined_and_one_that_is_missing(demo: Path, batches: dict[str, list[Batch]]) -> None:
    jobs = {each["planted_id"]: each["job_ids"] for each in truth(demo)}
    ranks = {job_id: [row for row in rows(batches, "dumps") if row["job_id"] == job_id] for job_id in jobs.values()}
    assert {row["version"] for row in ranks[jobs["i-host-hang"]]} == {"2.10"}
    assert {row["version"] for row in ranks[jobs["j-missing-dump"]]} == {"2.4"}
    assert len(ranks[jobs["i-host-hang"]]) == 16
    assert len(ranks[jobs["j-missing-dump"]]) == 7
    entries = sorted(row["n_entries"] for row in ranks[jobs["i-host-hang"]])
    assert entries == [39] + [40] * 15


INCIDENT = {
    "started_at": "2026-03-03T10:00:00Z",
    "job_ids": "",
    "nodes": "n1",
    "device_node": "",
    "is_planned": "false",
    "is_failure": "true",
}
PLANTED = {"started_at": "2026-03-03T10:01:00Z", "node": "n1", "is_planned": "false", "is_failure": "true", "note": "said"}


def written(path: Path, base: dict[str, str], table: list[dict[str, str]]) -> Path:
    names = {name: "" for row in ({**base, **each} for each in table) for name in row}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(names), restval="")
        writer.writeheader()
        writer.writerows({**base, **each} for each in table)
    return path


def compared(tmp_path: Path, planted: list[dict[str, str]], incidents: list[dict[str, str]]) -> pl.DataFrame:
    unset_truth = {
        "pci_bdf": "",
        "device_serial": "",
        "job_ids": "",
        "component": "hbm",
        "expected_component": "hbm",
        "expected_cause": "",
    }
    unset = {"component": "hbm", "cause": "", "device_serial": "", "confidence": "low"}
    return compare(
        written(tmp_path / "incidents.csv", {**unset, **INCIDENT}, incidents),
        written(tmp_path / "truth.csv", {**unset_truth, **PLANTED}, planted),
    )


def verdicts(frame: pl.DataFrame) -> list[tuple[str | None, str | None, str]]:
    return frame.select("planted_id", "incident_id", "verdict").rows()


def test_a_shared_job_matches_before_what_is_near(tmp_path: Path) -> None:
    frame = compared(
        tmp_path,
        [{"planted_id": "a", "job_ids": "5"}, {"planted_id": "b"}],
        [{"incident_id": "i1"}, {"incident_id": "i2", "job_ids": "4;5", "nodes": "n9", "started_at": "2026-03-03T12:00:00Z"}],
    )
    assert verdicts(frame) == [("a", "i2", "yes"), ("b", "i1", "yes")]
    assert frame.columns == list(COLUMNS)


@pytest.mark.parametrize(
    ("incident", "verdict"),
    [
        ({"started_at": "2026-03-03T10:16:00Z"}, "yes"),
        ({"started_at": "2026-03-03T10:16:01Z"}, "missed"),
        ({"nodes": "n2", "device_node": "n1"}, "yes"),
        ({"nodes": "n2;n11"}, "missed"),
        ({"component": "gpu"}, "no"),
        ({"is_failure": "false"}, "no"),
        ({"is_planned": "true"}, "no"),
    ],
    ids=json.dumps,
)
def test_near_means_the_node_and_fifteen_minutes(tmp_path: Path, incident: dict[str, str], verdict: str) -> None:
    frame = compared(tmp_path, [{"planted_id": "a"}], [{"incident_id": "i1", **incident}])
    assert frame["verdict"][0] == verdict


def test_a_planned_incident_is_right_when_it_is_not_counted(tmp_path: Path) -> None:
    flags = {"is_planned": "true", "is_failure": "false"}
    frame = compared(
        tmp_path, [{"planted_id": "k", "expected_component": "maintenance", **flags}], [{"incident_id": "i1", **flags}]
    )
    assert verdicts(frame) == [("k", "i1", "yes")]


def test_the_serial_is_judged_where_one_was_planted(tmp_path: Path) -> None:
    planted = [
        {"planted_id": name, "job_ids": name, "device_serial": serial}
        for name, serial in (("1", "0321"), ("2", "0321"), ("3", ""))
    ]
    incidents = [
        {"incident_id": f"i{name}", "job_ids": name, "device_serial": serial}
        for name, serial in (("1", "0321"), ("2", "321"), ("3", "9"))
    ]
    assert compared(tmp_path, planted, incidents)["is_serial_right"].to_list() == [True, False, None]


def test_the_score_counts_confident_errors_apart(tmp_path: Path) -> None:
    planted = [{"planted_id": name, "job_ids": name} for name in "12345"]
    incidents = [
        {"incident_id": "i1", "job_ids": "1"},
        {"incident_id": "i2", "job_ids": "2", "component": "gpu", "confidence": "medium"},
        {"incident_id": "i3", "job_ids": "3", "component": "gpu", "confidence": "low"},
        {"incident_id": "i4", "job_ids": "4", "component": "unknown", "confidence": ""},
        {"incident_id": "i9", "job_ids": "9", "nodes": "n9"},
    ]
    frame = compared(tmp_path, planted, incidents)
    assert score(frame) == {"planted": 5, "found": 4, "right": 1, "wrong_confident": 1, "missed": 1, "extra": 1}


def test_nothing_found_and_nothing_planted_are_frames_too(tmp_path: Path) -> None:
    assert score(compared(tmp_path, [], [])) == dict.fromkeys(
        ("planted", "found", "right", "wrong_confident", "missed", "extra"), 0
    )
