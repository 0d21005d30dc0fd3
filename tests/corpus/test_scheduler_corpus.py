"""Real exports of sacct give the values that were counted by hand (SOURCES.md of the corpus)."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from bathtub.ingest import Batch, claimants, formats
from bathtub.source import head
from tests.cases import rows_of, source

GCM = "scheduler/facebookresearch-gcm"
SNOWMAN_COLUMNS = (
    "JobID,JobName,User,Partition,NodeList,NNodes,NCPUS,NTasks,State,Submit,Start,End,Timelimit,Elapsed,TotalCPU,CPUTime,UserCPU,"
    "SystemCPU,ReqMem,MaxRSS,MaxVMSize,ReqTRES,AllocTRES,TRESUsageInMax,TRESUsageInTot,TRESUsageOutTot,MaxDiskRead,MaxDiskWrite,"
    "MaxRSSNode,MaxRSSTask,MaxVMSizeNode,MaxVMSizeTask,MaxDiskReadNode,MaxDiskReadTask,MaxDiskWriteNode,MaxDiskWriteTask,Comment"
)

Rows = list[dict[str, object]]


def _read(path: Path, **settings: object) -> tuple[Rows, Rows, Rows, list[Batch]]:
    batches = list(formats()["slurm_sacct"].parse(source(path, **settings)))
    jobs, steps, rejects = (list(rows_of(batches, table)) for table in ("jobs", "job_steps", "rejects"))
    assert sum(batch.read for batch in batches) == sum(batch.kept + batch.rejected + batch.out_of_scope for batch in batches)
    return jobs, steps, rejects, batches


def test_sacct_files_are_claimed_and_the_others_are_not(corpus: Path) -> None:
    files = sorted(path for path in (corpus / GCM).iterdir() if path.suffix == ".txt")
    claimed = {path.name for path in files if "slurm_sacct" in {known.name for known in claimants(head(path), path.name)}}
    assert claimed == {path.name for path in files if path.name.startswith("sample-sacct-")}


def test_midnight_edge_case(corpus: Path) -> None:
    path = corpus / GCM / "sample-sacct-output-midnight-edge-case.rows-1-602.txt"
    jobs, steps, rejects, _ = _read(path, zone="UTC")
    assert (len(jobs), len(steps), len(rejects)) == (160, 442, 0)
    states = Counter(row["state"] for row in jobs)
    assert states == {"FAILED": 122, "CANCELLED": 23, "COMPLETED": 12, "REQUEUED": 2, "TIMEOUT": 1}
    every = Counter(row["state"] for row in jobs + steps)
    assert every == {"FAILED": 367, "COMPLETED": 186, "CANCELLED": 46, "REQUEUED": 2, "TIMEOUT": 1}
    assert Counter(row["step"] for row in steps) == {"extern": 148, "batch": 146, "0": 146, "7": 1, "2": 1}
    assert {row["cancelled_by"] for row in jobs if row["state"] == "CANCELLED"} == {"1185300516"}
    tasks = [row for row in jobs if row["array_task"] is not None]
    assert (len(tasks), len({row["base_job_id"] for row in tasks})) == (126, 5)


def test_midnight_edge_case_steps_end_after_their_job(corpus: Path) -> None:
    path = corpus / GCM / "sample-sacct-output-midnight-edge-case.rows-1-602.txt"
    jobs, steps, _, _ = _read(path, zone="UTC")
    ended_at = {row["job_id"]: row["ended_at"] for row in jobs}
    assert {row["job_id"] for row in steps} <= set(ended_at)
    assert sum(row["ended_at"] > ended_at[row["job_id"]] for row in steps) == 46  # type: ignore[operator]
    assert {row["ended_at"].date() for row in jobs} == {date(2021, 4, 7)}  # type: ignore[attr-defined]
    assert sum(row["ended_at"].date() == date(2021, 4, 8) for row in steps) == 11  # type: ignore[attr-defined]


@pytest.mark.parametrize("name, n", [("small", 11), ("small-expected", 9)])
def test_small_midnight_files(corpus: Path, name: str, n: int) -> None:
    jobs, steps, rejects, _ = _read(corpus / GCM / f"sample-sacct-output-midnight-edge-case-{name}.txt", zone="UTC")
    assert (len(jobs) + len(steps), len(rejects)) == (n, 0)


@pytest.mark.parametrize(
    "name, n_breaks, n_written_out",
    [("one-multiline", 1, 0), ("one-multiline-expected", 0, 1), ("fake-line-break", 1, 1), ("fake-line-break-expected", 0, 2)],
)
def test_records_over_several_lines(corpus: Path, name: str, n_breaks: int, n_written_out: int) -> None:
    jobs, steps, rejects, _ = _read(corpus / GCM / f"sample-sacct-{name}.txt", zone="America/Los_Angeles")
    assert rejects == []
    shown = [(row["job_id"], row["state"], row["exit_code"], row["n_nodes"], len(row["nodes"]), row["n_gpus"]) for row in jobs]  # type: ignore[arg-type]
    assert shown == [("201729", "FAILED", 6, 128, 128, 1024), ("201844", "REQUEUED", 0, 32, 32, 256)]
    assert (jobs[0]["derived_exit_code"], jobs[0]["derived_exit_signal"]) == (0, 6)
    stepped = [(row["job_id"], row["step"], row["state"], row["exit_signal"], len(row["nodes"]), row["n_gpus"]) for row in steps]  # type: ignore[arg-type]
    assert stepped == [("200131", "0", "CANCELLED", 9, 256, 2048), ("201729", "batch", "FAILED", 0, 1, 8)]
    submit_line = str(jobs[1]["submit_line"])
    assert "||" in submit_line
    assert (submit_line.count("\n"), submit_line.count("\\n")) == (n_breaks, n_written_out)


def test_a_row_of_another_width_is_one_reject(corpus: Path) -> None:
    jobs, steps, rejects, _ = _read(corpus / GCM / "sample-sacct-output-with-invalid-lines.txt", zone="UTC")
    assert (jobs, steps) == ([], [])
    assert [(row["line"], row["reason"]) for row in rejects] == [(2, "field_count")]


def test_running_step(corpus: Path) -> None:
    jobs, steps, rejects, _ = _read(corpus / GCM / "sample-sacct-running-output.txt", zone="UTC")
    assert (jobs, rejects, len(steps)) == ([], [], 10)
    columns = ("job_id", "job_id_raw", "step", "state", "ended_at", "n_gpus")
    distinct = {tuple(row[column] for column in columns) for row in steps}
    assert distinct == {("6539191_195", "6539485", "extern", "RUNNING", None, 1)}
    assert {tuple(row["nodes"]) for row in steps} == {("learnnode0423",)}  # type: ignore[arg-type]


def _snowman(corpus: Path) -> tuple[Rows, Rows, Rows, list[Batch]]:
    columns = tuple(SNOWMAN_COLUMNS.split(","))
    path = corpus / "scheduler/hb-jobinfo/sacct.rows-1-121.txt"
    return _read(path, zone="Europe/Amsterdam", format="slurm_sacct", columns=columns, delimiter="☃")


def test_export_without_header(corpus: Path) -> None:
    jobs, steps, rejects, batches = _snowman(corpus)
    assert (sum(batch.read for batch in batches), len(rejects), len(jobs), len(steps)) == (121, 0, 58, 63)
    assert Counter(row["state"] for row in jobs) == {"COMPLETED": 41, "CANCELLED": 6, "FAILED": 6, "TIMEOUT": 4, "NODE_FAIL": 1}
    assert Counter(row["state"] for row in steps) == {"COMPLETED": 53, "FAILED": 6, "CANCELLED": 4}
    assert Counter(row["step"] for row in steps) == {"batch": 29, "extern": 29, "0": 5}
    assert sum(row["array_task"] is not None for row in jobs) == 17
    assert len({row["user_name"] for row in jobs}) == 27
    assert sum(row["started_at"] is None for row in jobs) == 3
    nodes = {node for row in jobs for node in row["nodes"] or ()}  # type: ignore[attr-defined]
    assert len(nodes) == 54
    assert sum(len(row["nodes"] or ()) * row["elapsed_s"] for row in jobs) == 7_494_831  # type: ignore[arg-type,operator,misc]


def test_node_fail_of_a_job_that_never_ran(corpus: Path) -> None:
    (row,) = [row for row in _snowman(corpus)[0] if row["state"] == "NODE_FAIL"]
    assert (row["job_id"], row["started_at"], row["nodes"], row["elapsed_s"]) == ("7336818", None, None, 0)
    assert row["alloc_tres"]


def test_gpus_known_and_unknown(corpus: Path) -> None:
    jobs = _snowman(corpus)[0]
    known = {row["job_id"]: (row["node_list"], row["n_gpus"], row["elapsed_s"], row["state"]) for row in jobs if row["n_gpus"]}
    assert known == {
        "7965768": ("v100gpu16", 1, 55_702, "CANCELLED"),
        "7946767": ("v100gpu13", 1, 41_003, known["7946767"][3]),
        "7939708": ("a100gpu2", 1, 4, "FAILED"),
    }
    silent = [row for row in jobs if str(row["partition_name"]).startswith("gpu") and row["n_gpus"] is None]
    assert Counter(row["started_at"] is not None for row in silent) == {True: 7, False: 2}


def test_a_run_over_the_spring_clock_change_agrees_in_its_zone(corpus: Path) -> None:
    jobs, steps, _, _ = _snowman(corpus)
    assert not [row for row in jobs + steps if {"elapsed_disagrees", "ambiguous_time"} & set(row["flags"])]  # type: ignore[call-overload]
    columns = tuple(SNOWMAN_COLUMNS.split(","))
    path = corpus / "scheduler/hb-jobinfo/sacct.rows-1-121.txt"
    by_wall_clock = _read(path, zone="Etc/GMT-1", format="slurm_sacct", columns=columns, delimiter="☃")[0]
    assert [row["job_id"] for row in by_wall_clock if "elapsed_disagrees" in row["flags"]] == ["7195760"]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["test-data1.csv", "test-data2.csv"])
def test_bars_despite_the_name(corpus: Path, name: str) -> None:
    path = corpus / "scheduler/slurm2sql" / name
    assert [known.name for known in claimants(head(path), name)] == ["slurm_sacct"]
    jobs, steps, rejects, _ = _read(path, zone="Europe/Helsinki")
    assert (len(jobs), len(steps), len(rejects)) == (2, 3, 0)
    first, second = jobs
    assert (first["job_id"], first["state"], first["cancelled_by"], first["elapsed_s"]) == (
        "43974388",
        "CANCELLED",
        "1300204",
        12_805,
    )
    assert (second["job_id"], second["ended_at"]) == ("43977780", None)
    batch = next(row for row in steps if row["job_id"] == "43974388" and row["step"] == "batch")
    assert (batch["ended_at"] - first["ended_at"]).total_seconds() == 31  # type: ignore[operator]
    assert (batch["exit_code"], batch["exit_signal"]) == (0, 9)
    assert next(row["state"] for row in steps if row["step"] == "0") == "COMPLETED"
    assert next(row["started_at"] for row in steps if row["job_id"] == "43977780") is None


def test_commas_are_read_only_when_told(corpus: Path) -> None:
    path = corpus / "scheduler/slurm2sql/test-data3.csv"
    assert [known.name for known in claimants(head(path), path.name)] == []
    jobs, _, rejects, _ = _read(path, zone="UTC", format="slurm_sacct", delimiter=",")
    assert (len(jobs), rejects, jobs[0]["job_name"]) == (1, [], "job1")
