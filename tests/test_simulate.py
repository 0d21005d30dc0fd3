"""The simulated cluster: equal seeds give equal files, our own readers take every one, and the truth agrees with them."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binom

from bathtub import cli
from bathtub.config import load
from bathtub.demo import COLUMNS, compare, score
from bathtub.ingest import Batch, claim, formats
from bathtub.ingest._messages import xid
from bathtub.simulate import kernel, write_demo
from bathtub.simulate.cluster import NODES, gpus, rng
from bathtub.simulate.full import Settings, exposure, write_cluster
from bathtub.simulate.full import score as truth_score
from bathtub.simulate.full.hazards import HAZARDS, strikes
from bathtub.simulate.full.host_scripts import SCRIPTS
from bathtub.simulate.full.kinds import KINDS
from bathtub.simulate.full.plan import history
from bathtub.simulate.full.topology import Fleet
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


# The full cluster: small, and failing often enough to hold most kinds.
FULL = Settings(seed=SEED, n_nodes=8, n_days=3, rate_factor=400, floor=6)
MEANT = {
    "dcgm": {"dcgm_exporter"},
    "dmesg": {"dmesg_iso"},
    "dumps": {"flight_recorder"},
    "loghost": {"syslog_rfc3164"},
    "nodes": {"journal_json", "syslog_iso", "syslog_rfc3164"},
    "output": {"job_output"},
    "plant": {"inventory_csv", "maintenance_csv"},
    "scheduler": {"slurm_daemon_log", "slurm_events", "slurm_sacct", "slurm_scontrol", "slurm_sinfo"},
    "smi": {"nvidia_smi_csv"},
    "xml": {"nvidia_smi_xml"},
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    write_cluster(folder, FULL)
    return folder


@pytest.fixture(scope="module")
def read_full(full: Path) -> dict[str, tuple[str, list[Batch]]]:
    return read_all(full)


def read_all(folder: Path) -> dict[str, tuple[str, list[Batch]]]:
    """The format and the batches of each file: as its configuration names it, else as it is claimed."""
    found = {}
    for name, source in sources(folder):
        form = formats()[source.settings.format] if source.settings.format else claim(head(source.path), name)
        found[name] = (form.name, list(form.parse(source)))
    return found


def faults(read: dict[str, tuple[str, list[Batch]]]) -> set[tuple[object, ...]]:
    rows = (row for _, each in read.values() for row in rows_of(each, "gpu_faults"))
    return {(row["node"], row["pci_bdf"], row["xid"], row["seen_at"]) for row in rows}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_full_cluster_is_the_same_for_equal_seeds(full: Path, tmp_path: Path) -> None:
    write_cluster(tmp_path, FULL)
    assert snapshot(tmp_path) == snapshot(full)


def test_each_file_of_the_full_cluster_is_claimed_as_meant_and_read_whole(
    read_full: dict[str, tuple[str, list[Batch]]],
) -> None:
    found: dict[str, set[str]] = {}
    for name, (form, _) in read_full.items():
        found.setdefault(name.split("/")[0], set()).add(form)
    assert found == MEANT
    assert not [(name, row) for name, (_, each) in read_full.items() for row in rows_of(each, "rejects")]


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_counts_follow_the_planted_rates(seed: int, tmp_path: Path) -> None:
    """Given their sum, the counts are binomial with the shares of the expected ones."""
    settings = Settings(seed=seed, n_nodes=64, n_days=30, rate_factor=10, floor=10)
    fleet = Fleet(settings)
    exposure.write(tmp_path / "exposure.csv", settings, fleet, history(settings, fleet))
    rows = table(tmp_path / "exposure.csv")
    n_planted, n_expected = (sum(float(row[name]) for row in rows) for name in ("n_planted", "n_expected"))
    assert n_planted > 50
    assert 0.75 < n_planted / n_expected < 1.25
    for row in rows:
        low, high = binom.interval(1 - 1e-4, int(n_planted), float(row["n_expected"]) / n_expected)
        assert low <= int(row["n_planted"]) <= high, row


def test_no_node_and_no_day_depends_on_the_size() -> None:
    small = set(strikes(FULL, Fleet(FULL)))
    larger = replace(FULL, n_nodes=12, n_days=5)
    assert small
    assert {each for each in strikes(larger, Fleet(larger)) if each[1] < 8 and each[0] < 3 * 86_400} == small


def test_a_source_that_is_missing_leaves_no_file_and_no_claim(tmp_path: Path) -> None:
    settings = replace(FULL, missing=frozenset({"kernel", "recorder"}), has_noise=False)
    write_cluster(tmp_path, settings)
    read = read_all(tmp_path)
    assert not faults(read)
    assert not {"dumps", "dmesg"} & {name.split("/")[0] for name in read}
    rows = table(tmp_path / "truth" / "incidents.csv")
    assert rows
    assert all(not {"kernel", "recorder"} & set(row["sources"].split(";")) for row in rows)
    assert {row["expected_component"] for row in rows if row["component"] in {"hbm", "gpu", "nvlink"}} == {"unknown"}


def test_damage_leaves_what_is_planted(read_full: dict[str, tuple[str, list[Batch]]], tmp_path: Path) -> None:
    write_cluster(tmp_path, replace(FULL, has_corruption=True, lines_per_day=400))
    assert faults(read_full) <= faults(read_all(tmp_path))


def test_a_node_has_one_job_at_a_time() -> None:
    for seed in range(4):
        settings = replace(FULL, seed=seed, n_nodes=24, n_days=10)
        found = history(settings, Fleet(settings))
        spans: dict[int, list[tuple[float, float]]] = {}
        for attempt in found.attempts:
            for node in attempt.nodes:
                spans.setdefault(node, []).append((attempt.started_s, attempt.ended_s))
        assert all(end <= start for taken in spans.values() for (_, end), (start, _) in pairwise(sorted(taken)))


def test_the_full_truth_agrees_with_what_was_written(full: Path, read_full: dict[str, tuple[str, list[Batch]]]) -> None:
    """A named serial stood in that slot, a job ended on that node, and what was planned lies in a window."""
    rows = {
        name: [row for _, each in read_full.values() for row in rows_of(each, name)]
        for name in ("inventory", "jobs", "maintenance")
    }
    planted = table(full / "truth" / "incidents.csv")
    assert len({row["component"] for row in planted}) > 6
    for row in planted:
        at = datetime.fromisoformat(row["started_at"])
        stays = [each for each in rows["inventory"] if (each["node"], each["pci_bdf"]) == (row["node"], row["pci_bdf"])]
        known = [each for each in stays if each["in_service_at"] is not None and each["in_service_at"] <= at]
        serials = {each["device_serial"] for each in known if each["removed_at"] is None or at < each["removed_at"]}
        assert not row["device_serial"] or serials == {row["device_serial"]}, row
        for job_id in filter(None, row["job_ids"].split(";")):
            ended = [each for each in rows["jobs"] if each["job_id"] == job_id and each["ended_at"] is not None]
            assert any(set(each["nodes"]) & {row["node"], *row["nodes"].split(";")} for each in ended), row
        windows = [each for each in rows["maintenance"] if each["node"] == row["node"]]
        assert row["is_planned"] == "false" or any(each["started_at"] <= at < each["ended_at"] for each in windows), row


def test_every_kind_has_lines_or_dumps_or_nothing_to_say() -> None:
    for kind in KINDS:
        assert not kind.script or kind.script in SCRIPTS, kind.name
        needs = set().union(*(verdict.needs for verdict in kind.verdicts))
        assert ("kernel" in needs) <= bool(kind.script), kind.name
        assert ("recorder" in needs) <= bool(kind.dumps), kind.name
    assert {kind.component for kind in KINDS} == {hazard.component for hazard in HAZARDS}


@pytest.mark.parametrize(
    "wrong", [{"n_nodes": 7}, {"n_days": 2}, {"rate_factor": 0}, {"seed": -1}, {"missing": {"job"}}], ids=str
)
def test_a_cluster_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Settings(**wrong)


def test_the_command_tells_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.simulate(out=tmp_path, nodes=8, days=3, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_nodes"], told["n_days"]) == (8, 3)
    assert told["n_files"] == sum(path.is_file() for path in (tmp_path / "inbox").rglob("*"))


PLANTED_ROW = {
    "planted_id": "p",
    "started_at": "2026-03-03T10:00:00Z",
    "node": "n1",
    "nodes": "n1",
    "job_ids": "",
    "device_serial": "",
    "expected_component": "hbm",
    "also_right": "",
    "is_failure": "true",
    "is_planned": "false",
    "has_evidence": "true",
    "is_knowable": "true",
}
FOUND_ROW = {
    "incident_id": "i",
    "started_at": "2026-03-03T10:10:00Z",
    "nodes": "n1",
    "device_node": "",
    "device_serial": "",
    "job_ids": "",
    "component": "hbm",
    "is_failure": "true",
    "is_planned": "false",
    "confidence": "high",
    "cause": "",
    "rule_id": "r",
}


@pytest.mark.parametrize(
    ("planted", "found", "figures"),
    [
        ({}, {}, {"recall": 1.0, "precision": 1.0, "accuracy_on_knowable": 1.0, "macro_f1": 1.0}),
        ({}, {"component": "gpu"}, {"recall": 1.0, "accuracy_on_knowable": 0.0, "wrong_with_high_confidence": 1}),
        ({"also_right": "gpu;nic"}, {"component": "gpu"}, {"accuracy_on_knowable": 1.0, "wrong_with_high_confidence": 0}),
        ({}, {"started_at": "2026-03-03T10:45:01Z"}, {"recall": 0.0, "precision": 0.0, "said_failure_of_none": 1}),
        ({}, {"nodes": "n1;n2", "device_node": "n2"}, {"recall": 0.0}),
        ({"job_ids": "4"}, {"nodes": "n9", "job_ids": "3;4"}, {"recall": 1.0}),
        ({"device_serial": "01"}, {"device_serial": "1"}, {"device_right": 0.0}),
        ({"is_planned": "true", "is_failure": "false"}, {"is_planned": "true", "is_failure": "false"}, {"planned_right": 1.0}),
        ({}, {"is_planned": "true"}, {"failures_said_planned": 1, "precision": None}),
        ({"expected_component": "unknown", "is_knowable": "false"}, {}, {"unknowable_said_unknown": 0.0}),
        ({"has_evidence": "false"}, {}, {"planted_failures": 0, "recall": None, "said_failure_of_none": 1}),
    ],
    ids=str,
)  # fmt: skip
def test_judgements_are_scored(planted: dict[str, str], found: dict[str, str], figures: dict[str, object]) -> None:
    scored = truth_score.score(truth_score.matched([PLANTED_ROW | planted], [FOUND_ROW | found]))
    assert {name: scored[name] for name in figures} == figures


def test_a_planted_incident_that_is_told_twice_is_no_false_alarm() -> None:
    scored = truth_score.score(truth_score.matched([PLANTED_ROW], [FOUND_ROW, FOUND_ROW, FOUND_ROW | {"nodes": "n9"}]))
    assert (scored["said_twice"], scored["said_failure_of_none"], scored["precision"]) == (1, 1, 1 / 3)


def test_an_incident_stands_for_one_planted_failure_and_for_many_planned() -> None:
    two = [PLANTED_ROW | {"planted_id": name} for name in "ab"]
    assert truth_score.score(truth_score.matched(two, [FOUND_ROW]))["recall"] == 0.5
    flags = {"is_planned": "true", "is_failure": "false"}
    assert truth_score.score(truth_score.matched([each | flags for each in two], [FOUND_ROW | flags]))["planned_right"] == 1.0


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
