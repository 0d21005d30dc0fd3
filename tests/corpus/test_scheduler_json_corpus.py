"""Real JSON of Slurm and a public fault trace give the values that were counted by hand (SOURCES.md of the corpus)."""

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from bathtub import knowledge
from bathtub.ingest import Quarantine, claimants, formats
from bathtub.source import HEAD
from tests.cases import rows_of, source
from tests.conftest import CORPUS

SCHEDULER = CORPUS / "scheduler"
EPOCH = datetime(2024, 3, 30, tzinfo=UTC)

# file of rackslab-Slurm-web: job, state, nodes, elapsed (not given for jobs that run or wait)
JOBS = {
    "24.05_v0.0.41": {
        "archived": ("649716", "CANCELLED", "cn176", 42),
        "completed": ("649718", "COMPLETED", "cn001", 1),
        "failed": ("649719", "FAILED", "cn001", 1),
        "timeout": ("649717", "TIMEOUT", "cn001", 83),
        "running": ("649722", "RUNNING", "cn001", None),
        "pending": ("649730", "PENDING", None, None),
        "gpus-archived": ("3", "COMPLETED", "gpu1", 31),
        "gpus-multi-nodes": ("11", "PENDING", "gpu1", None),
        "gpus-multi-types": ("4", "PENDING", "gpu1", None),
    },
    "24.11_v0.0.41": {
        "archived": ("5959", "COMPLETED", "cn4", 30),
        "completed": ("5965", "COMPLETED", "cn1", 2),
        "failed": ("5966", "FAILED", "cn1", 1),
        "timeout": ("5964", "TIMEOUT", "cn1", 87),
        "running": ("5972", "RUNNING", "cn1", None),
        "pending": ("5977", "PENDING", None, None),
        "gpus-archived": ("5980", "COMPLETED", "gpu1", 30),
        "gpus-multi-nodes": ("5981", "RUNNING", "gpu[1-2]", None),
        "gpus-multi-types": ("5984", "RUNNING", "gpu2", None),
    },
    "24.11_v0.0.42": {
        "archived": ("6354", "COMPLETED", "ia1", 30),
        "completed": ("6362", "COMPLETED", "cn1", 61),
        "failed": ("6359", "FAILED", "cn1", 1),
        "timeout": ("6357", "TIMEOUT", "cn1", 65),
        "running": ("6368", "RUNNING", "cn3", None),
        "pending": ("6370", "PENDING", None, None),
        "gpus-archived": ("6354", "COMPLETED", "ia1", 30),
        "gpus-multi-nodes": ("6371", "RUNNING", "ia[1-2]", None),
        "gpus-multi-types": ("6356", "RUNNING", "ia1", None),
    },
    "25.05_v0.0.42": {
        "archived": ("4756", "COMPLETED", "gpu1", 30),
        "completed": ("4767", "COMPLETED", "cn3", 60),
        "failed": ("4763", "FAILED", "cn1", 2),
        "timeout": ("4761", "TIMEOUT", "cn1", 62),
        "running": ("4769", "RUNNING", "cn4", None),
        "pending": ("4774", "PENDING", None, None),
        "gpus-archived": ("4781", "COMPLETED", "gpu1", 31),
        "gpus-multi-nodes": ("4777", "RUNNING", "gpu[1-2]", None),
        "gpus-multi-types": ("4783", "RUNNING", "gpu1", None),
    },
    "25.05_v0.0.43": {
        "archived": ("2194", "COMPLETED", "gpu[1-2]", 360),
        "completed": ("4742", "COMPLETED", "cn3", 60),
        "failed": ("4732", "FAILED", "cn1", 2),
        "timeout": ("4730", "TIMEOUT", "cn1", 63),
        "running": ("4739", "RUNNING", "cn1", None),
        "pending": ("4743", "PENDING", None, None),
        "gpus-archived": ("4756", "COMPLETED", "gpu1", 30),
        "gpus-multi-nodes": ("4746", "RUNNING", "gpu[1-2]", None),
        "gpus-multi-types": ("4752", "RUNNING", "gpu1", None),
    },
}
EACH = [(folder, file) for folder, files in JOBS.items() for file in files]
Rows = list[dict[str, object]]


@cache
def read(name: str) -> dict[str, Rows]:
    """Every table of a file that is read whole; read = kept + rejected."""
    batches = list(formats()["slurm_json"].parse(source(SCHEDULER / name)))
    assert sum(batch.read for batch in batches) == sum(batch.kept + batch.rejected for batch in batches)
    return {table: list(rows_of(batches, table)) for table in ("jobs", "job_steps", "rejects")}


@pytest.fixture(autouse=True)
def _there(corpus: Path) -> None:
    """Skips where the corpus is not there."""


@pytest.mark.parametrize("folder, file", EACH, ids=["/".join(each) for each in EACH])
def test_accounting_job(folder: str, file: str) -> None:
    found = read(f"rackslab-Slurm-web/{folder}/slurmdb-job-{file}.json")
    (job,) = found["jobs"]
    job_id, state, nodes, elapsed = JOBS[folder][file]
    assert (job["job_id"], job["state"], job["node_list"]) == (job_id, state, nodes)
    assert elapsed in (None, job["elapsed_s"])
    assert (job["n_gpus"], job["flags"], found["rejects"]) == (None, [], [])
    assert (job["ended_at"] is None) == (state in ("PENDING", "RUNNING"))
    if file == "failed":
        assert (job["exit_code"], job["exit_signal"]) == (1, 0)
    if state == "TIMEOUT":
        assert [(step["step"], step["state"], step["exit_signal"]) for step in found["job_steps"]] == [("batch", "CANCELLED", 15)]


@pytest.mark.parametrize("file, job_id", [("gpus-multi-nodes", "11"), ("gpus-multi-types", "4")])
def test_a_job_may_wait_although_its_step_runs(file: str, job_id: str) -> None:
    found = read(f"rackslab-Slurm-web/24.05_v0.0.41/slurmdb-job-{file}.json")
    (job,), (step,) = found["jobs"], found["job_steps"]
    assert (job["job_id"], job["state"], job["nodes"], job["started_at"] is not None) == (job_id, "PENDING", ["gpu1"], True)
    assert (step["state"], step["nodes"]) == ("RUNNING", ["gpu1"])


def test_distinct_accounting_jobs() -> None:
    found = [read(f"rackslab-Slurm-web/{folder}/slurmdb-job-{file}.json")["jobs"] for folder, file in EACH]
    keys = Counter((job["job_id_raw"], job["submitted_at"]) for jobs in found for job in jobs)
    assert (keys.total(), len(keys)) == (45, 43)
    assert {job_id: n for (job_id, _), n in keys.items() if n > 1} == {"6354": 2, "4756": 2}


@pytest.mark.parametrize("folder", JOBS)
def test_the_controllers_failed_job_is_the_accountings(folder: str) -> None:
    (live,) = read(f"rackslab-Slurm-web/{folder}/slurm-job-failed.json")["jobs"]
    (filed,) = read(f"rackslab-Slurm-web/{folder}/slurmdb-job-failed.json")["jobs"]
    same = (
        "job_id",
        "job_id_raw",
        "submitted_at",
        "started_at",
        "ended_at",
        "state",
        "exit_code",
        "exit_signal",
        "nodes",
        "n_gpus",
    )
    assert {column: live[column] for column in same} == {column: filed[column] for column in same}


def test_oldest_parser_keeps_an_elapsed_that_disagrees() -> None:
    (job,) = read("mila-SARC/slurm_21_8_8.json")["jobs"]
    assert (job["job_id"], job["state"], job["nodes"], job["n_gpus"]) == ("55978384", "REQUEUED", ["cdr896"], 1)
    assert (job["exit_code"], job["elapsed_s"], job["flags"]) == (0, 86_301, ["elapsed_disagrees"])
    assert job["ended_at"] - job["started_at"] == timedelta(seconds=94_363)  # type: ignore[operator]


def test_open_job() -> None:
    (job,) = read("mila-SARC/slurm_23_11_5.json")["jobs"]
    assert (job["job_id"], job["state"], job["nodes"], job["n_gpus"], job["ended_at"]) == ("4", "RUNNING", ["mila02"], 2, None)


def test_generated_jobs() -> None:
    found = read("mila-SARC/synthetic-fromage_1714003200.json")
    assert (len(found["jobs"]), len(found["job_steps"]), found["rejects"]) == (13, 26, [])
    assert Counter(job["state"] for job in found["jobs"]) == {"COMPLETED": 7, "RUNNING": 3, "FAILED": 2, "CANCELLED": 1}
    assert sum(job["n_gpus"] or 0 for job in found["jobs"]) == 10  # type: ignore[misc]
    assert "gres/gpu=" not in "".join(str(job["alloc_tres"]) for job in found["jobs"])


@cache
def faults() -> Rows:
    """The faults of the trace, in order of their starts."""
    path = SCHEDULER / "stepfun-InfiniteHBD-Trace" / "fault_trace.json"
    (batch,) = formats()["fault_trace"].parse(source(path, epoch=EPOCH))
    assert (batch.read, batch.kept, batch.rejected) == (1168, 1168, 0)
    return list(rows_of([batch], "fault_records"))


def days(span: object) -> float:
    assert isinstance(span, timedelta)
    return span / timedelta(days=1)


def union_of(node: str) -> list[tuple[datetime, datetime]]:
    """The times a node was away, overlapping ones as one."""
    spans: list[tuple[datetime, datetime]] = []
    for fault in sorted(
        (each for each in faults() if each["node"] == node), key=lambda each: (each["started_at"], each["ended_at"])
    ):  # type: ignore[arg-type,return-value]
        start, end = fault["started_at"], fault["ended_at"]
        assert isinstance(start, datetime) and isinstance(end, datetime)  # noqa: PT018
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def test_faults_and_servers() -> None:
    found = faults()
    nodes = {fault["node"] for fault in found}
    assert (len(found), len(nodes), 400 - len(nodes)) == (584, 231, 169)
    assert all(fault["ended_at"] is not None for fault in found)
    assert sum(fault["ended_at"] == fault["started_at"] for fault in found) == 14
    assert max(fault["ended_at"] for fault in found) - EPOCH == timedelta(days=348.9798)  # type: ignore[type-var,operator]
    assert len({fault["record_key"] for fault in found}) == 584


def test_downtime() -> None:
    nodes = sorted({str(fault["node"]) for fault in faults()})
    unions = {node: union_of(node) for node in nodes}
    assert sum(map(len, unions.values())) == 582
    assert [node[:8] for node in nodes if len(unions[node]) < sum(fault["node"] == node for fault in faults())] == ["d0aff1b6"]
    total = sum(days(fault["ended_at"] - fault["started_at"]) for fault in faults())  # type: ignore[operator]
    union = sum(days(end - start) for spans in unions.values() for start, end in spans)
    assert (round(total, 4), round(union, 4)) == (3232.4438, 3231.3222)
    assert all(before[1] <= after[0] for spans in unions.values() for before, after in pairwise(spans))
    exposure = 400 * 348.9798 - union
    assert round(exposure, 2) == 136_360.60
    assert round(exposure / 584, 2) == 233.49
    assert round((400 * (348.9798 - 3.8955) - union) / 584, 2) == 230.83


def test_classes() -> None:
    hardware = Counter(fault["part"] for fault in faults() if fault["level"] == "Hardware Failure")
    named = {"GPU": 158, "Parameter Plane Cable": 40, "Fan": 33, "NIC": 30, "Power Supply": 26, "Motherboard": 4, "CPU": 3}
    assert {part: n for part, n in hardware.items() if n > 1} == named
    assert (sum(hardware.values()), sum(n == 1 for n in hardware.values())) == (298, 4)
    other = Counter(fault["part"] for fault in faults() if fault["level"] == "Other Failure")
    assert (sum(other.values()), other["Unknown Error"], other["Stress Test Failure"]) == (262, 144, 97)
    assert other["Training Task Troubleshooting"] == 14
    assert sum(fault["level"] == "Software Failure" for fault in faults()) == 24
    per_fault = {part: 136_360.60 / hardware[part] for part in ("GPU", "Parameter Plane Cable", "Fan", "NIC", "Power Supply")}
    assert [round(value, 1) for value in per_fault.values()] == [863.0, 3409.0, 4132.1, 4545.4, 5244.6]


def test_classes_are_those_that_the_publisher_counts_and_that_we_know() -> None:
    counted = json.loads((SCHEDULER / "stepfun-InfiniteHBD-Trace" / "fault_statistics.json").read_text())
    theirs = {
        (level, part): each["ClassTotal"]
        for level, parts in counted.items()
        for part, each in parts.items()
        if part != "LevelTotal"
    }
    assert Counter((fault["level"], fault["part"]) for fault in faults()) == theirs
    known = set(knowledge.tables()["fault_parts"].select("level", "part").iter_rows())
    assert set(theirs) <= known


def test_repairs() -> None:
    spans = [days(fault["ended_at"] - fault["started_at"]) for fault in faults()]  # type: ignore[operator]
    assert (round(median(spans), 5), round(max(spans), 2)) == (0.84955, 130.96)


FILES = sorted(path for path in SCHEDULER.rglob("*") if path.is_file()) if SCHEDULER.is_dir() else []
MUTATIONS = 4


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A damaged copy: cut, a byte changed, a piece doubled, a piece lost."""
    at, length = chance.randrange(len(content) + 1), chance.randrange(1, 200)
    return chance.choice([
        content[:at],
        content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :],
        content[:at] + content[at : at + length] + content[at:],
        content[:at] + content[at + length :],
    ])  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SCHEDULER)) for path in FILES])
def test_damaged_copies_lose_no_record(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    for number in range(MUTATIONS):
        copy = tmp_path / path.name
        copy.write_bytes(mutated(path.read_bytes(), chance) if number else path.read_bytes())
        likely = {"slurm_json", "fault_trace"} if path.suffix == ".json" else {"slurm_sacct"}
        for name in sorted(likely | {known.name for known in claimants(copy.read_bytes()[:HEAD], path.name)}):
            given = source(copy, zone="UTC", epoch=EPOCH, columns=("JobID", "State") if name == "slurm_sacct" and number else ())
            try:
                batches = list(formats()[name].parse(given))
            except Quarantine as refused:
                assert refused.reason.isidentifier()  # noqa: PT017 - either outcome is right
                continue
            for batch in batches:
                assert batch.read == batch.kept + batch.rejected + batch.out_of_scope
                assert batch.rejected == len(batch.rejects)
