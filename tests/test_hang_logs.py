"""A folder without dumps gives a verdict from its lines; with a dump among the files, the dumps decide."""

from pathlib import Path

from bathtub.hang import hang
from tests.make_dumps import dump, entry, torch_pickle

TIMEOUT = (
    "[rank{0}]:[E210 03:04:05.1 ProcessGroupNCCL.cpp:700] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1000) ran for 1002 milliseconds.\n"
    "[rank{0}]:[E210 03:04:05.1 ProcessGroupNCCL.cpp:2241] [PG ID 0 PG GUID 0(default_pg) Rank {0}]  failure detected "
    "by watchdog at work sequence id: 7 PG status: last enqueued work: 8, last completed work: 6\n"
)
IDLE = (
    "[rank{0}]:[E210 03:04:06.1 ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Received a dump signal due "
    "to a collective timeout from  rank 1 and we will try our best. Last enqueued NCCL work: 6, last completed NCCL work: 6.\n"
)
LAUNCHER = """Root Cause (first observed failure):
[0]:
  time      : 2026-02-10_03:05:00
  host      : gpu-c1
  rank      : 1 (local_rank: 1)
  exitcode  : -6 (pid: 2311)
"""


def write(folder: Path) -> Path:
    for rank in (0, 1, 3):
        (folder / f"rank_{rank}.log").write_text(TIMEOUT.format(rank))
    (folder / "attempt").mkdir()
    (folder / "attempt" / "stderr.log").write_text(IDLE.format(2) + LAUNCHER)
    return folder


def test_the_idle_rank_and_never_the_launchers_root_cause(tmp_path: Path) -> None:
    found = hang([write(tmp_path)])
    assert (found["finding"], found["class"], found["culprits"], found["confidence"]) == ("never_joined", "host", [2], "high")
    assert (found["group"], found["seq"]) == ("0", 7)
    assert found["evidence"][0] == "attempt/stderr.log:1"
    assert found["decides"]


def test_dumps_decide_where_there_are_some(tmp_path: Path) -> None:
    write(tmp_path)
    for rank in range(3):
        entries = [entry(1, 1), *([entry(2, 2, done=False)] if rank != 1 else [])]
        content = dump(entries, ranks="[0, 1, 2]", marks=(2 - (rank == 1), -1, 1))
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(torch_pickle(content))
    assert hang([tmp_path])["culprits"] == [1]


def test_lines_that_tell_nothing_are_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("step 1\nstep 2\n")
    assert hang([tmp_path])["finding"] == "no_data"
