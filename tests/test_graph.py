"""Who is named: frames of waits in, verdicts out. Victims are never named, and what cannot be told names nobody."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bathtub.graph import READS, SCHEMA, hang_verdicts

SITUATIONS = ("idle", "queued", "elsewhere", "no_dump", "unreadable", "no_data", "at_same_op", "ahead")

WAITS = {
    "cluster": pl.String, "dump_set": pl.String, "rank": pl.Int64, "source_id": pl.String, "line": pl.Int64,
    "pg_key": pl.String, "pg_name": pl.String, "operation": pl.String, "seq": pl.Int64, "is_p2p": pl.Boolean,
    "backend": pl.String, "created_ns": pl.Int64, "member": pl.Int64, "is_inferred": pl.Boolean,
    "member_source_id": pl.String, "situation": pl.String, "lag": pl.Int64,
}  # fmt: skip
MISMATCHES = {
    "cluster": pl.String, "dump_set": pl.String, "pg_key": pl.String, "pg_name": pl.String, "seq": pl.Int64,
    "kind": pl.String, "first_created_ns": pl.Int64,
}  # fmt: skip


def dump_set(n_ranks: int, n_idle: int = 0, missing: tuple[int, ...] = (), unreadable: tuple[int, ...] = (), **more: object):
    n_dumped = n_ranks - len(missing) - len(unreadable)
    return {
        "cluster": "c", "dump_set": "d", "job_id": None, "n_ranks": n_ranks, "n_dumped": n_dumped, "n_readable": n_dumped,
        "missing": list(missing), "unreadable": list(unreadable), "refs": ["s:1"], "world_size": None, "n_versions": 1,
        "n_pending": n_dumped - n_idle, "is_gloo": False, "is_after_abort": False, **more,
    }  # fmt: skip


def wait(rank: int, member: int, situation: str, **more: object):
    row = {
        "cluster": "c", "dump_set": "d", "rank": rank, "source_id": f"s{rank}", "line": 9, "pg_key": "0", "pg_name": "0",
        "operation": "all_reduce", "seq": 7, "is_p2p": False, "backend": "nccl", "created_ns": 1000 + rank, "member": member,
        "is_inferred": False, "member_source_id": f"s{member}", "situation": situation, "lag": 1, **more,
    }  # fmt: skip
    return {name: row[name] for name in WAITS}


def verdict(one, waits=(), mismatches=()):
    frames = {
        "int_dump_sets": pl.DataFrame([one]),
        "int_waits": pl.DataFrame(list(waits), schema=WAITS),
        "int_mismatches": pl.DataFrame(list(mismatches), schema=MISMATCHES),
    }
    assert set(frames) == set(READS)
    found = hang_verdicts(frames)
    assert found.schema == SCHEMA
    (row,) = found.to_dicts()
    return row


def named(row):
    return row["finding"], row["hang_class"], row["culprits"]


def test_only_the_end_of_the_chain_is_named() -> None:
    waits = [wait(0, 2, "elsewhere"), wait(1, 3, "idle", seq=6), wait(2, 3, "idle", seq=6, created_ns=1), wait(0, 1, "queued")]
    row = verdict(dump_set(4, n_idle=1), waits)
    assert named(row) == ("never_joined", "host", [3])
    assert (row["confidence"], row["pg_name"], row["seq"]) == ("high", "0", 6)
    assert row["evidence"] == ["s3:1", "s2:9", "s1:9"]


def test_several_ranks_that_stopped_are_all_named() -> None:
    row = verdict(dump_set(6, n_idle=2), [wait(rank, end, "idle") for rank in (0, 1) for end in (4, 5)] + [wait(2, 4, "idle")])
    assert named(row) == ("never_joined", "host", [4, 5])


def test_a_rank_without_a_dump_is_named_where_others_wait_for_it() -> None:
    row = verdict(dump_set(4, missing=(3,)), [wait(rank, 3, "no_dump", member_source_id=None) for rank in range(3)])
    assert named(row) == ("no_dump", "unknown", [3])
    assert (row["missing"], row["confidence"]) == ([3], "medium")


def test_half_of_the_dumps_missing_names_nobody() -> None:
    row = verdict(dump_set(4, missing=(2, 3)), [wait(0, 2, "no_dump"), wait(1, 3, "no_dump")])
    assert named(row) == ("unknown", "unknown", [])
    assert row["missing"] == [2, 3]


def test_an_unreadable_dump_is_a_weaker_suspect() -> None:
    waits = [wait(0, 1, "unreadable"), wait(0, 2, "idle"), wait(3, 2, "idle")]
    row = verdict(dump_set(4, n_idle=1, unreadable=(1,)), waits)
    assert named(row) == ("never_joined", "host", [2])
    assert row["suspects"] == [1]
    row = verdict(dump_set(4, unreadable=(1,)), [wait(rank, 1, "unreadable") for rank in (0, 2, 3)])
    assert named(row) == ("unknown", "unknown", [])
    assert row["suspects"] == [1]


def test_all_at_one_operation_blames_no_rank() -> None:
    row = verdict(dump_set(2), [wait(0, 1, "at_same_op"), wait(1, 0, "at_same_op")])
    assert named(row) == ("all_joined", "unknown", [])
    assert (row["pg_name"], row["seq"]) == ("0", 7)


@pytest.mark.parametrize(
    "one, waits",
    [
        (dump_set(3), [wait(0, 1, "elsewhere"), wait(1, 0, "elsewhere"), wait(2, 0, "elsewhere")]),
        (dump_set(3), [wait(0, 1, "elsewhere")]),
        (dump_set(2), [wait(0, 1, "ahead", lag=2), wait(1, 0, "queued")]),
        (dump_set(4, n_idle=3), [wait(0, 1, "idle"), wait(0, 2, "idle"), wait(0, 3, "idle")]),
        (dump_set(5, n_idle=1), [wait(0, 4, "idle"), wait(1, 2, "elsewhere"), wait(2, 1, "elsewhere")]),
        (dump_set(1), []),
        (dump_set(4, n_idle=2, missing=(2, 3), is_gloo=True), []),
        (dump_set(4, n_idle=3, missing=(3,)), []),
        (dump_set(3, n_idle=1), []),
        (dump_set(2, n_dumped=0, n_readable=0), []),
    ],
    ids=[
        "cycle", "a_wait_that_cannot_be_told", "stuck_completion", "an_operation_too_far", "a_cycle_beside_an_idle_rank",
        "one_dump", "gloo_half_missing", "complete_but_one_missing", "pending_without_waits", "unreadable",
    ],
)  # fmt: skip
def test_what_cannot_be_told_names_nobody(one, waits) -> None:
    row = verdict(one, waits)
    assert named(row) == ("unknown", "unknown", [])
    assert row["confidence"] == "low"


def test_a_mismatch_beats_every_other_sign() -> None:
    mismatch = {"cluster": "c", "dump_set": "d", "pg_key": "0", "pg_name": "0", "seq": 5, "kind": "type", "first_created_ns": 1}
    row = verdict(dump_set(4, n_idle=1), [wait(0, 3, "idle")], [mismatch])
    assert named(row) == ("unknown", "unknown", [])
    assert "operation 5" in row["summary"]


def test_recorder_off_is_no_data_and_nothing_pending_is_none() -> None:
    assert named(verdict(dump_set(4, n_dumped=0, n_readable=4))) == ("no_data", "unknown", [])
    assert named(verdict(dump_set(4, n_idle=4))) == ("none", "none", [])
    assert verdict(dump_set(4, n_idle=4, is_gloo=True))["confidence"] == "medium"


def test_an_operation_seen_late_is_no_hang() -> None:
    assert named(verdict(dump_set(2), [wait(0, 1, "ahead", lag=1)])) == ("none", "none", [])


def test_gloo_shows_no_pending_operation_after_an_error() -> None:
    row = verdict(dump_set(4, n_idle=3, missing=(2,), is_gloo=True))
    assert named(row) == ("no_dump", "unknown", [2])
    assert row["confidence"] == "low"


def test_doubts_lower_the_confidence() -> None:
    waits = [wait(rank, 3, "idle", is_inferred=True) for rank in range(3)]
    assert verdict(dump_set(4, n_idle=1), waits)["confidence"] == "medium"
    assert verdict(dump_set(4, n_idle=1, n_versions=2), waits)["confidence"] == "low"


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(SITUATIONS), st.integers(0, 3)), max_size=12)


@given(rows)
def test_victims_are_never_named(drawn) -> None:
    """Whoever waits for somebody who is not there is named by no verdict."""
    waits = [wait(rank, member, situation, lag=lag) for rank, member, situation, lag in drawn if rank != member]
    row = verdict(dump_set(6), waits)
    waiters = {one["rank"] for one in waits}
    ends = {one["member"] for one in waits if one["situation"] in ("idle", "no_dump")}
    assert set(row["culprits"]) <= ends
    if row["finding"] not in ("never_joined", "no_dump"):
        assert row["culprits"] == []
    assert row["finding"] != "none" or not waiters or all(one["situation"] in ("ahead", "at_same_op") for one in waits)
