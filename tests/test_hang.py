"""A folder of dumps gives one verdict, from our own dumps: which files count, and the findings no public set shows."""

from pathlib import Path

from bathtub.hang import dump_files, hang
from tests.make_dumps import as_json, dump, entry, torch_pickle

KEYS = ["finding", "class", "culprits", "suspects", "missing", "confidence", "group", "seq", "evidence", "summary"]
WHY = ["stalled", "waits", "groups", "decides"]


def rank_dump(*, waits: bool, ranks: str = "[0, 1, 2]"):
    entries = [entry(1, 1), entry(2, 2), *([entry(3, 3, done=False)] if waits else [])]
    return dump(entries, ranks=ranks, marks=(3, -1, 2) if waits else (2, -1, 2))


def write(folder: Path, waiting: str) -> Path:
    """One dump a rank: `w` waits in the third operation, `i` has nothing pending, `-` has no file, `x` is cut."""
    for rank, kind in enumerate(waiting):
        content = torch_pickle(rank_dump(waits=kind != "i", ranks=str(list(range(len(waiting))))))
        if kind != "-":
            (folder / f"nccl_trace_rank_gpu-a01_{rank}").write_bytes(content[:200] if kind == "x" else content)
    return folder


def test_the_rank_that_did_not_come(tmp_path: Path) -> None:
    found = hang([write(tmp_path, "wwiw")])
    assert list(found) == KEYS + WHY
    assert (found["finding"], found["class"], found["culprits"], found["confidence"]) == ("never_joined", "host", [2], "high")
    assert (found["group"], found["seq"]) == ("0", 3)
    assert found["evidence"][:2] == ["nccl_trace_rank_gpu-a01_2:1", "nccl_trace_rank_gpu-a01_0:3"]


def test_the_rank_without_a_dump(tmp_path: Path) -> None:
    found = hang([write(tmp_path, "ww-w")])
    assert (found["finding"], found["class"], found["culprits"], found["missing"]) == ("no_dump", "unknown", [2], [2])


def test_an_unreadable_dump_is_a_weaker_suspect(tmp_path: Path) -> None:
    found = hang([write(tmp_path, "wxiw")])
    assert (found["culprits"], found["suspects"], found["missing"]) == ([2], [1], [])


def test_all_ranks_at_one_operation(tmp_path: Path) -> None:
    found = hang([write(tmp_path, "wwww")])
    assert (found["finding"], found["class"], found["culprits"], found["seq"]) == ("all_joined", "unknown", [], 3)


def test_nothing_pending(tmp_path: Path) -> None:
    found = hang([write(tmp_path, "iiii")])
    assert (found["finding"], found["class"], found["confidence"]) == ("none", "none", "high")


def test_no_dump_at_all(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing here")
    found = hang([tmp_path], 8)
    assert list(found) == KEYS + WHY
    assert (found["finding"], found["culprits"], found["missing"]) == ("no_data", [], [])


def test_leftovers_beside_the_dumps_are_no_dumps(tmp_path: Path) -> None:
    write(tmp_path, "wwiw")
    wrong = torch_pickle(rank_dump(waits=False))
    for name in ("nccl_trace_rank_1.tmp", "nccl_trace_rank_1.bak", "nccl_trace_rank_3.pipe", ".nccl_trace_rank_0"):
        (tmp_path / name).write_bytes(wrong)
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "nccl_trace_rank_0").write_bytes(wrong)
    (tmp_path / "stderr_rank_7.log").touch()
    assert len(dump_files([tmp_path])) == 4
    assert hang([tmp_path])["culprits"] == [2]


def test_a_rank_dumped_in_both_forms_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "wwiw")
    (tmp_path / "trace_rank_0.json").write_bytes(as_json(rank_dump(waits=True, ranks="[0, 1, 2, 3]")))
    assert hang([tmp_path])["culprits"] == [2]


def test_files_may_be_named_one_by_one_in_any_order(tmp_path: Path) -> None:
    paths = sorted(write(tmp_path, "wwiw").iterdir())
    assert hang(paths[::-1]) == hang([tmp_path])


LARGE = (1 << 62) - 1
NUMBERS = ("record_id", "pg_id", "collective_seq_id", "p2p_seq_id", "op_id", "time_created_ns", "timeout_ms")


def test_numbers_of_any_size_or_none_at_all_stop_no_verdict(tmp_path: Path) -> None:
    for rank in range(3):
        entries = [entry(number, number, done=number < 5) for number in range(1, 7)]
        entries += [entry(7 + at, 7, done=rank == 2, **{key: LARGE}) for at, key in enumerate(NUMBERS)]
        entries += [
            entry(20 + at, at, done=rank == 2, op=op, is_p2p=op != "nccl:coalesced", **{key: None})
            for at, key in enumerate(NUMBERS)
            for op in ("nccl:send 0->1", "nccl:coalesced", "nccl:recv 0<-99999999999999999999")
        ]
        (tmp_path / f"rank_{rank}").write_bytes(torch_pickle(dump(entries, ranks="[0, 1, 2]", marks=(LARGE, -1, LARGE))))
    assert hang([tmp_path])["finding"]


def test_a_file_that_names_a_million_members_is_refused_and_the_others_are_judged(tmp_path: Path) -> None:
    write(tmp_path, "wwiww")
    hostile = rank_dump(waits=True, ranks=str(list(range(5))))
    for number in range(10):
        hostile["pg_config"][f"g{number}"] = {"name": f"g{number}", "desc": "", "ranks": str(list(range(110_000)))}
    (tmp_path / "nccl_trace_rank_gpu-a01_1").write_bytes(torch_pickle(hostile))
    found = hang([tmp_path])
    assert (found["culprits"], found["suspects"]) == ([2], [1])


def test_a_folder_of_empty_files_tells_nothing(tmp_path: Path) -> None:
    for rank in range(300):
        (tmp_path / f"nccl_trace_rank_{rank}").touch()
    assert (hang([tmp_path])["finding"], hang([tmp_path], 300)["culprits"]) == ("no_data", [])


def test_a_world_that_disagrees_with_the_dumps_blames_no_rank_that_is_there(tmp_path: Path) -> None:
    write(tmp_path, "wwiw")
    assert hang([tmp_path], 2)["culprits"] == [2]
    assert hang([tmp_path], 4)["culprits"] == [2]
    assert hang([tmp_path], 1 << 40)["culprits"] in ([], [2])
