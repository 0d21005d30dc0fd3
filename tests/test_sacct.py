"""What holds for any text: sacct and the hand-written tables lose no record, and both ways to split agree."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from bathtub.ingest import Batch, Quarantine, _sacct_export, claimants, formats
from bathtub.ingest._hostlist import count_nodes, expand_nodes
from bathtub.ingest._sacct_cells import Lines, _frame, split_cells
from bathtub.ingest._sacct_layout import Layout
from bathtub.ingest._sacct_records import split_records
from tests.cases import TESTS, rows_of, source

COLUMNS = ("JobID", "JobName", "State", "End", "Comment", "ExitCode")
HEADER = "|".join(COLUMNS)
OPENINGS = {
    "slurm_sacct": HEADER,
    "maintenance_csv": "nodes,started_at,ended_at,reason",
    "inventory_csv": "node,device_class,pci_bdf,device_serial,in_service_at,removed_at",
}
TOKENS = st.sampled_from([
    "|", "\n", "12", "12.batch", "FAILED", "NEW", "1750000000", "2025-03-01T08:00:00", "0:9", "a", " ", '"', ",", HEADER,
    "sacct: error: x", "n[1-3]", "2026-03-01", "0000:3b:00", "\ufffd", "\r", "\ufeff", "\x1f", "\0", "Unknown",
    "12|a|FAILED|1750000000||0:0\n",
    "12|FAILED|a\n", "12|a|b\n", "u|a|12|FAILED\n", "12|FAILED|a|b\n", "a|12|FAILED|b|c\n",
    "12,FAILED,n1,a,1750000000\n", "12,FAILED,n[1,3],a\n", "12,FAILED,",
])  # fmt: skip
NOISE = st.one_of(st.binary(max_size=200), st.lists(TOKENS, max_size=60).map(lambda parts: "".join(parts).encode()))


def _parse(folder: Path, name: str, content: bytes, **settings: object) -> list[Batch]:
    path = folder / "input"
    path.write_bytes(content)
    return list(formats()[name].parse(source(path, **settings)))


def _totals(batches: list[Batch]) -> dict[str, int]:
    return {key: sum(getattr(batch, key) for batch in batches) for key in ("read", "kept", "rejected", "out_of_scope")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sacct")


@pytest.mark.parametrize("name", OPENINGS)
@given(noise=NOISE)
def test_any_bytes_behind_a_header_are_accounted_for(folder: Path, name: str, noise: bytes) -> None:
    content = OPENINGS[name].encode() + b"\n" + noise
    try:
        batches = _parse(folder, name, content, zone="Europe/Berlin")
    except Quarantine as outcome:
        assert outcome.reason in {"unknown_time_format", "bad_csv"}  # noqa: PT017 - both outcomes are right
        return
    totals = _totals(batches)
    assert totals["read"] == totals["kept"] + totals["rejected"] + totals["out_of_scope"]
    assert totals["rejected"] == sum(len(batch.rejects) for batch in batches)
    if name != "maintenance_csv":
        assert totals["kept"] == sum(len(frame) for batch in batches for frame in batch.frames.values())


@given(noise=NOISE)
def test_any_bytes_are_read_or_refused_where_the_configuration_says_sacct(folder: Path, noise: bytes) -> None:
    for settings in ({}, {"columns": ("JobID", "State")}, {"columns": ("JobName", "JobID"), "delimiter": "|#"}):
        try:
            totals = _totals(_parse(folder, "slurm_sacct", noise, zone="UTC", **settings))
        except Quarantine:
            continue
        assert totals["read"] == totals["kept"] + totals["rejected"] + totals["out_of_scope"]


@given(noise=NOISE)
def test_no_bytes_make_a_claim_fail(noise: bytes) -> None:
    for name in OPENINGS:
        assert formats()[name].claims(noise, "x") in {True, False}


FREE = st.text(alphabet="ab |\n\r", max_size=12)
RECORDS = st.lists(
    st.tuples(st.integers(1, 9999), FREE, st.sampled_from(["FAILED", "COMPLETED", "TIMEOUT"])), min_size=1, max_size=8
)


@given(records=RECORDS)
def test_pipes_and_line_breaks_in_job_names_come_back(folder: Path, records: list[tuple[int, str, str]]) -> None:
    lines = [f"{job}|{name}|{state}|1750000000" for job, name, state in records]
    content = "JobID|JobName|State|End\n" + "\n".join(lines) + "\n"
    rows = list(rows_of(_parse(folder, "slurm_sacct", content.encode()), "jobs"))
    expected = [(str(job), name or None, state) for job, name, state in records]
    assert [(row["job_id"], row["job_name"], row["state"]) for row in rows] == expected


LAYOUTS = [
    Layout(COLUMNS, "|"),
    Layout(COLUMNS, "|", is_trailing=True),
    Layout(("Comment", "End", "JobID", "State", "End", "JobName"), "|"),
    Layout(("JobID", "State"), "|"),
    Layout(COLUMNS, "|a"),
    Layout(("JobID", "State", "JobName"), "|"),
    Layout(("JobID", "JobName", "User"), "|"),
    Layout(("User", "JobName", "JobID", "State"), "|"),
    Layout(("JobID", "State", "JobName", "Comment"), "|"),
    Layout(("JobName", "JobID", "State", "Comment", "Reason"), "|"),
    Layout(("JobID", "State", "NodeList", "JobName", "End"), ","),
    Layout(("JobID", "State", "NodeList", "JobName"), ","),
]
SHAPES = (
    "wide", "trailing", "end_twice", "two_columns", "two_bytes", "text_last", "user_behind_the_text", "id_behind_the_text",
    "two_texts_last", "text_first_and_two_last", "commas", "commas_and_text_last",
)  # fmt: skip


def _lines(lines: list[str]) -> Lines:
    return Lines("".join(f"{line}\n" for line in lines).encode())


@pytest.mark.parametrize("layout", LAYOUTS, ids=SHAPES)
@given(parts=st.lists(TOKENS, max_size=80))
def test_columns_give_what_the_exact_splitter_gives(layout: Layout, parts: list[str]) -> None:
    lines = "".join(parts).split("\n")
    exact = split_records(lines, layout, is_last=True)
    found = split_cells(_lines(lines), layout, first_line=1, is_last=True)
    assert_frame_equal(found.frame, _frame(exact, layout).with_columns(pl.col("line") + 1))
    assert found.rejected == [(at + 1, reason, raw) for at, reason, raw in exact.rejected]
    assert found.n_out_of_scope == exact.n_out_of_scope


@pytest.mark.parametrize("layout", LAYOUTS, ids=SHAPES)
@given(parts=st.lists(TOKENS, max_size=80), cut=st.integers(0, 80))
def test_a_block_leaves_to_the_next_what_may_go_on(layout: Layout, parts: list[str], cut: int) -> None:
    lines = "".join(parts).split("\n")
    whole = split_cells(_lines(lines), layout, first_line=1, is_last=True)
    first = split_cells(_lines(lines[:cut]), layout, first_line=1, is_last=False)
    second = split_cells(_lines(lines[first.taken :]), layout, first_line=first.taken + 1, is_last=True)
    assert_frame_equal(pl.concat([first.frame, second.frame]), whole.frame)
    assert first.rejected + second.rejected == whole.rejected


def _mixed() -> Iterator[str]:
    yield HEADER
    for job in range(1, 400):
        yield f"{job}|name|FAILED|{1750000000 + job}||1:0"
        if job % 7 == 0:
            yield f"{job}.0|a|b\n\nc|COMPLETED|{1750000000 + job}|x|0:0"
        if job % 11 == 0:
            yield "torn|row"


def test_small_blocks_give_what_one_block_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "\n".join(_mixed()).encode()
    whole = _parse(folder, "slurm_sacct", content)
    monkeypatch.setattr(_sacct_export, "BLOCK", 100)
    small = _parse(folder, "slurm_sacct", content)
    assert _totals(small) == _totals(whole) == {"read": 493, "kept": 456, "rejected": 36, "out_of_scope": 1}
    for table in ("jobs", "job_steps", "rejects"):
        assert list(rows_of(small, table)) == list(rows_of(whole, table))


def test_a_line_without_end_costs_only_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sacct_export, "BLOCK", 64)
    batches = _parse(folder, "slurm_sacct", b"JobID|State\n1|FAILED\n" + b"\0" * 500 + b"\n2|FAILED\n")
    assert [row["job_id"] for row in rows_of(batches, "jobs")] == ["1", "2"]
    assert [(row["line"], row["reason"]) for row in rows_of(batches, "rejects")] == [(3, "line_too_long")]
    assert [row["line"] for row in rows_of(batches, "jobs")] == [2, 4]


NEAR_MISSES = {
    "sinfo": b"AVAIL|CPUS|STATE|NODELIST\nup|96|idle|n1\n",
    "squeue": b"JOBID|STATE|USER\n1|RUNNING|ada\n",
    "commas_without_a_state": b"JobID,JobName\n1,a\n",
    "tabs_of_another_tool": b"JobID\tState\tColour\n1\tFAILED\tred\n",
    "no_state": b"JobID|JobName\n1|a\n",
    "unknown_field": b"JobID|State|Colour\n1|FAILED|red\n",
    "scontrol": b"JobId=12 JobName=a UserId=ada(1)\n   JobState=RUNNING\n",
    "blank": b"JobID State\n1 FAILED\n",
    "window_without_end": b"node,started_at,reason\nn1,2026-03-01 08:00Z,x\n",
    "devices_without_class": b"node,pci_bdf\nn1,0000:3b:00\n",
}


@pytest.mark.parametrize("head", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_a_near_miss_is_claimed_by_none_of_the_three(head: bytes) -> None:
    assert not {known.name for known in claimants(head, "input.txt")} & set(OPENINGS)


@pytest.mark.parametrize(
    "text", ["", "n1,,n2", "n[3-1]", "n[1-70000]", "n[1-300]c[1-300]", "a b", "@all", "n1!n2", "n[1-5/2]", "n[01-3]", "n[1"]
)
def test_what_is_no_host_list_gives_no_names(text: str) -> None:
    assert expand_nodes(text) is None


def test_a_host_list_may_be_as_long_as_the_scheduler_allows() -> None:
    assert count_nodes("n[1-65536]") == 65536
    assert len(expand_nodes("n[1-4]c[01-09]") or ()) == 36


@pytest.mark.parametrize("name", OPENINGS)
def test_every_reason_of_a_case_stands_on_the_page_of_its_format(name: str) -> None:
    page = __import__(f"bathtub.ingest.{name}", fromlist=["__doc__"]).__doc__
    cases = TESTS / "ingest" / name
    reasons = {
        line.split(",")[1] for file in cases.glob("*/rejects.csv") for line in file.read_text().splitlines()[1:] if "," in line
    }
    reasons |= {file.read_text().strip() for file in cases.glob("*/quarantine.txt")}
    assert reasons
    assert {reason for reason in reasons if reason not in page} == set()
