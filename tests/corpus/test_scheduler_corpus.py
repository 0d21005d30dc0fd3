"""Real exports of sacct give the values that were counted by hand (SOURCES.md of the corpus)."""

import csv
import random
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from bathtub.ingest import Batch, Quarantine, claimants, formats
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


def test_a_window_by_row_loses_steps_that_a_window_by_job_keeps(corpus: Path) -> None:
    name = "sample-sacct-output-midnight-edge-case-small"
    jobs, steps, _, _ = _read(corpus / GCM / f"{name}.txt", zone="UTC")
    _, kept, _, _ = _read(corpus / GCM / f"{name}-expected.txt", zone="UTC")
    keys = {(row["job_id"], row["step"]) for row in kept}
    lost = [row for row in steps if (row["job_id"], row["step"]) not in keys]
    assert [(row["step"], row["ended_at"].isoformat()) for row in lost] == [("0", "2021-04-08T00:00:22+00:00")] * 2  # type: ignore[attr-defined]
    assert {row["job_id"] for row in lost} <= {row["job_id"] for row in jobs}


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


UNIT_SEPARATOR = "scheduler/OSC-ood_core/slurm/sacct_unit_separator.txt"
UNIT_COLUMNS = (
    "Account,User,JobID,JobName,Elapsed,ReqMem,AllocCPUS,ReqCPUS,Timelimit,State,TotalCPU,NodeList,Partition,Submit,Start,End,"
    "AllocTRES"
)


def test_unit_separator(corpus: Path) -> None:
    settings = {"format": "slurm_sacct", "columns": tuple(UNIT_COLUMNS.split(",")), "delimiter": "\x1f"}
    jobs, steps, rejects, _ = _read(corpus / UNIT_SEPARATOR, zone="America/New_York", **settings)
    assert (steps, rejects) == ([], [])
    assert [(row["state"], row["cancelled_by"]) for row in jobs] == [("PENDING", None), ("RUNNING", None), ("CANCELLED", "1001")]
    assert [row["req_mem_bytes"] for row in jobs] == [round(size * (1 << 30)) for size in (0.98, 0.49, 0.98)]
    assert [row["n_gpus"] for row in jobs] == [1, None, None]
    assert [(row["started_at"] is None, row["ended_at"] is None) for row in jobs] == [(True, True), (False, True), (False, False)]


SACCT_SHAPES: dict[str, dict[str, object]] = {
    "node-fail-job-and-step": {"job_id": "12", "step": None, "state": "NODE_FAIL", "exit_code": 0, "exit_signal": 0},
    "step-without-exit-code": {"job_id": "12", "step": "0", "state": "CANCELLED", "exit_code": None, "exit_signal": None},
    "mem-zero-per-node": {"job_id": "31", "step": "batch", "state": "COMPLETED"},
    "interactive-step": {"job_id": "57", "step": "interactive", "state": "COMPLETED"},
    "cancelled-before-start": {
        "job_id": "64", "step": None, "state": "CANCELLED", "cancelled_by": "1060117793", "started_at": None, "nodes": None,
        "elapsed_s": 0, "timelimit_s": 259_200,
    },
    "array-step": {"job_id": "1000_91", "step": "batch", "job_id_raw": "1166"},
    "step-killed-under-completed-job": {"job_id": "77", "step": "0", "state": "CANCELLED", "exit_signal": 10},
    "recycled-job-id": {"job_id": "500", "step": None, "user_name": "u01"},
    "newline-in-submit-line": {"job_id": "88", "step": "interactive", "state": "COMPLETED"},
    "requeued-1": {
        "job_id_raw": "2359", "state": "REQUEUED", "elapsed_s": 3889, "req_mem_bytes": 5000 << 20, "req_mem_basis": "per_cpu",
    },
    "requeued-2": {"job_id_raw": "2359", "state": "REQUEUED", "elapsed_s": 4473},
    "requeued-3": {"job_id_raw": "2359", "state": "REQUEUED", "elapsed_s": 2153},
    "unit-separator-delimiter": {"job_id": "90", "state": "CANCELLED", "cancelled_by": "1001"},
    "trailing-delimiter": {"job_id": "91", "job_name": "train", "state": "FAILED"},
}  # fmt: skip


def _shapes(corpus: Path) -> dict[str, str]:
    """The shapes seen in issues, as exports of one row."""
    with (corpus / "scheduler/issue-shapes/sacct_rows.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {row["shape"]: f"{row['columns']}\n{row['row']}\n".replace("\\n", "\n").replace("<US>", "\x1f") for row in rows}


@pytest.mark.parametrize("shape", SACCT_SHAPES)
def test_shapes_seen_in_issues(corpus: Path, tmp_path: Path, shape: str) -> None:
    path = tmp_path / "export.txt"
    path.write_text(_shapes(corpus)[shape], encoding="utf-8", newline="")
    assert [known.name for known in claimants(head(path), path.name)] == ["slurm_sacct"]
    jobs, steps, rejects, _ = _read(path, zone="UTC")
    (row,) = jobs + steps
    assert rejects == []
    assert {column: row.get(column) for column in SACCT_SHAPES[shape]} == SACCT_SHAPES[shape]


def test_every_shape_is_asserted(corpus: Path) -> None:
    assert set(_shapes(corpus)) == set(SACCT_SHAPES)


SACCT: dict[str, dict[str, object]] = {
    f"{GCM}/sample-sacct-*.txt": {"zone": "America/Los_Angeles"},
    "scheduler/hb-jobinfo/sacct.*.txt": {
        "zone": "Europe/Amsterdam", "format": "slurm_sacct", "columns": tuple(SNOWMAN_COLUMNS.split(",")), "delimiter": "☃",
    },
    "scheduler/slurm2sql/test-data[12].csv": {"zone": "Europe/Helsinki"},
    "scheduler/slurm2sql/test-data3.csv": {"zone": "UTC", "delimiter": ","},
    UNIT_SEPARATOR: {"zone": "UTC", "columns": tuple(UNIT_COLUMNS.split(",")), "delimiter": "\x1f"},
}  # fmt: skip


def _damaged(content: bytes, chance: random.Random) -> bytes:
    """A copy with bytes flipped, lines cut, lost and doubled, or its end missing."""
    lines = content.splitlines(keepends=True)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(lines))
        line = lines[at]
        cut = chance.randrange(len(line)) if line else 0
        flipped = bytes([line[cut] ^ 1 << chance.randrange(8)]) if line else b""
        lines[at] = chance.choice([line[:cut], line[cut:], b"", line + line, line[:cut] + flipped + line[cut + 1 :]])
    damaged = b"".join(lines)
    return damaged[: chance.randrange(len(damaged))] if chance.random() < 0.2 else damaged


@pytest.mark.parametrize("pattern", SACCT)
def test_damaged_copies_lose_no_record(corpus: Path, tmp_path: Path, pattern: str) -> None:
    for path in sorted(corpus.glob(pattern)):
        chance, copy = random.Random(path.name), tmp_path / path.name
        for _ in range(10):
            copy.write_bytes(_damaged(path.read_bytes(), chance) or b"\n")
            try:
                jobs, steps, rejects, batches = _read(copy, **SACCT[pattern])
            except Quarantine as refused:
                assert refused.reason in {"columns_required", "unknown_time_format", "fixed_width"}  # noqa: PT017 - either is right
                continue
            assert len(jobs) + len(steps) == sum(batch.kept for batch in batches)
            assert len(rejects) == sum(batch.rejected for batch in batches)


@pytest.mark.parametrize("pattern", SACCT)
def test_no_times_of_the_corpus_look_clipped(corpus: Path, pattern: str) -> None:
    for path in sorted(corpus.glob(pattern)):
        jobs, steps, _, _ = _read(path, **SACCT[pattern])
        assert not [row for row in jobs + steps if "clipped_times" in row["flags"]]  # type: ignore[operator]
