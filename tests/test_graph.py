"""Who is named: frames of waits in, verdicts out. Victims are never named, and what cannot be told names nobody."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bathtub import knowledge
from bathtub.graph import READS, SCHEMA, hang_verdicts

SITUATIONS = ("idle", "queued", "elsewhere", "no_dump", "unreadable", "no_data", "at_same_op", "ahead")

WAITS = {
    "cluster": pl.String, "dump_set": pl.String, "rank": pl.Int64, "source_id": pl.String, "line": pl.Int64,
    "pg_key": pl.String, "pg_name": pl.String, "operation": pl.String, "seq": pl.Int64, "is_p2p": pl.Boolean,
    "is_started": pl.Boolean, "backend": pl.String, "created_ns": pl.Int64, "member": pl.Int64, "is_inferred": pl.Boolean,
    "member_source_id": pl.String, "situation": pl.String, "lag": pl.Int64,
}  # fmt: skip
MISMATCHES = {
    "cluster": pl.String, "dump_set": pl.String, "pg_key": pl.String, "pg_name": pl.String, "seq": pl.Int64,
    "kind": pl.String, "first_created_ns": pl.Int64, "is_first": pl.Boolean, "is_tie": pl.Boolean,
    "minority": pl.List(pl.Int64), "ranks": pl.List(pl.Int64), "operations": pl.List(pl.String), "refs": pl.List(pl.String),
}  # fmt: skip
SHIFTS = {
    "cluster": pl.String, "dump_set": pl.String, "pg_key": pl.String, "seq": pl.Int64, "rank": pl.Int64, "other": pl.Int64,
    "n_more": pl.Int64, "is_usual": pl.Boolean,
}  # fmt: skip
HABITS = {**{name: SHIFTS[name] for name in ("cluster", "dump_set", "pg_key", "seq", "rank")}, "is_usual": pl.Boolean}
TRANSFERS = {
    **{name: SHIFTS[name] for name in ("cluster", "dump_set", "pg_key")}, "pg_name": pl.String, "rank": pl.Int64,
    "member": pl.Int64, "is_send": pl.Boolean, "after_seq": pl.Int64, "n_messages": pl.Int64, "n_usual": pl.Int64,
    "ref": pl.String,
}  # fmt: skip
STALLS = {
    "cluster": pl.String, "dump_set": pl.String, "rank": pl.Int64, "pg_key": pl.String, "pg_name": pl.String, "seq": pl.Int64,
    "operation": pl.String, "ref": pl.String, "n_done_elsewhere": pl.Int64,
}  # fmt: skip
GROUPS = {
    "cluster": pl.String, "dump_set": pl.String, "rank": pl.Int64, "pg_key": pl.String, "reached_seq": pl.Int64,
}  # fmt: skip
SET = {"cluster": "c", "dump_set": "d"}


def dump_set(n_ranks: int, n_idle: int = 0, missing: tuple[int, ...] = (), unreadable: tuple[int, ...] = (), **more: object):
    n_dumped = n_ranks - len(missing) - len(unreadable)
    return {
        "cluster": "c", "dump_set": "d", "job_id": None, "n_ranks": n_ranks, "n_dumped": n_dumped, "n_readable": n_dumped,
        "missing": list(missing), "unreadable": list(unreadable), "refs": ["s:1"], "world_size": None, "n_versions": 1,
        "n_pending": n_dumped - n_idle, "is_gloo": False, "is_after_abort": False,
        "n_runs": 1, "first_run": [], "outrun": [], "is_young": False, "is_far_apart": False, **more,
    }  # fmt: skip


def wait(rank: int, member: int, situation: str, **more: object):
    row = {
        "cluster": "c", "dump_set": "d", "rank": rank, "source_id": f"s{rank}", "line": 9, "pg_key": "0", "pg_name": "0",
        "operation": "all_reduce", "seq": 7, "is_p2p": False, "is_started": False, "backend": "nccl",
        "created_ns": 1000 + rank, "member": member,
        "is_inferred": False, "member_source_id": f"s{member}", "situation": situation, "lag": 1, **more,
    }  # fmt: skip
    return {name: row[name] for name in WAITS}


def mismatch(forms: str, seq: int = 5, ranks: tuple[int, ...] = (), minority: tuple[int, ...] = (), **more: object):
    """One letter a rank: its form of the operation."""
    row = {
        **SET, "pg_key": "0", "pg_name": "0", "seq": seq, "kind": "type", "first_created_ns": seq, "is_first": True,
        "is_tie": not minority, "minority": list(minority), "ranks": list(ranks or range(len(forms))),
        "operations": list(forms), "refs": [f"s{rank}:{seq}" for rank in ranks or range(len(forms))], **more,
    }  # fmt: skip
    return {name: row[name] for name in MISMATCHES}


def shift(rank: int, other: int, *, is_usual: bool, seq: int = 5):
    return {**SET, "pg_key": "0", "seq": seq, "rank": rank, "other": other, "n_more": 1, "is_usual": is_usual}


def stall(rank: int, n_done_elsewhere: int, pg_key: str = "0"):
    row = {**SET, "rank": rank, "pg_key": pg_key, "pg_name": pg_key, "seq": 7, "operation": "all_reduce", "ref": f"s{rank}:7"}
    return {**row, "n_done_elsewhere": n_done_elsewhere}


def transfer(rank: int, member: int, n_messages: int, n_usual: int = 2, *, is_send: bool = True):
    row = {**SET, "pg_key": "p", "pg_name": "p", "rank": rank, "member": member, "is_send": is_send, "after_seq": 4}
    return {**row, "n_messages": n_messages, "n_usual": n_usual, "ref": f"s{rank}:4"}


def reached(rank: int, pg_key: str, seq: int):
    return {**SET, "rank": rank, "pg_key": pg_key, "reached_seq": seq}


def verdict(one, waits=(), mismatches=(), shifts=(), **more):
    frames = {
        "int_dump_sets": pl.DataFrame([one]),
        "hang_findings": knowledge.tables()["hang_findings"],
        "int_waits": pl.DataFrame(list(waits), schema=WAITS),
        "int_mismatches": pl.DataFrame(list(mismatches), schema=MISMATCHES),
        "int_sequence_shifts": pl.DataFrame(list(shifts), schema=SHIFTS),
        "int_sequence_habits": pl.DataFrame(list(more.get("habits", ())), schema=HABITS),
        "int_transfer_habits": pl.DataFrame(list(more.get("transfers", ())), schema=TRANSFERS),
        "int_rank_stalls": pl.DataFrame(list(more.get("stalls", ())), schema=STALLS),
        "int_rank_groups": pl.DataFrame(list(more.get("groups", ())), schema=GROUPS),
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
    assert named(row) == ("undecidable", "unknown", [])
    assert row["missing"] == [2, 3]


def test_an_unreadable_dump_is_a_weaker_suspect() -> None:
    waits = [wait(0, 1, "unreadable"), wait(0, 2, "idle"), wait(3, 2, "idle")]
    row = verdict(dump_set(4, n_idle=1, unreadable=(1,)), waits)
    assert named(row) == ("never_joined", "host", [2])
    assert row["suspects"] == [1]
    row = verdict(dump_set(4, unreadable=(1,)), [wait(rank, 1, "unreadable") for rank in (0, 2, 3)])
    assert named(row) == ("undecidable", "unknown", [])
    assert row["suspects"] == [1]


def test_all_at_one_operation_blames_no_rank() -> None:
    row = verdict(dump_set(2), [wait(0, 1, "at_same_op"), wait(1, 0, "at_same_op")])
    assert named(row) == ("all_joined", "unknown", [])
    assert (row["pg_name"], row["seq"]) == ("0", 7)


@pytest.mark.parametrize(
    "one, waits",
    [
        (dump_set(3), [wait(0, 1, "elsewhere")]),
        (dump_set(4), [wait(0, 1, "queued"), wait(1, 0, "queued"), wait(2, 3, "queued"), wait(3, 2, "queued")]),
        (dump_set(4, n_runs=2, first_run=[3]), [wait(0, 3, "idle")]),
        (dump_set(4, outrun=[3]), [wait(0, 3, "idle")]),
        (dump_set(4, unreadable=(1,)), [wait(rank, 1, "cut") for rank in (0, 2, 3)]),
        (dump_set(4, n_idle=3), [wait(0, 1, "idle"), wait(0, 2, "idle"), wait(0, 3, "idle")]),
        (dump_set(5, n_idle=1), [wait(0, 4, "idle"), wait(1, 2, "elsewhere"), wait(2, 1, "elsewhere")]),
        (dump_set(1), []),
        (dump_set(4, n_idle=2, missing=(2, 3), is_gloo=True), []),
        (dump_set(4, n_idle=3, missing=(3,)), []),
        (dump_set(3, n_idle=1), []),
        (dump_set(2, n_dumped=0, n_readable=0), []),
    ],
    ids=[
        "a_wait_that_cannot_be_told", "two_cycles", "two_runs", "two_moments", "entries_cut_off",
        "an_operation_too_far", "a_cycle_beside_an_idle_rank",
        "one_dump", "gloo_half_missing", "complete_but_one_missing", "pending_without_waits", "unreadable",
    ],
)  # fmt: skip
def test_what_cannot_be_told_names_nobody(one, waits) -> None:
    row = verdict(one, waits)
    assert named(row) == ("undecidable", "unknown", [])
    assert row["confidence"] == "low"


def test_a_mismatch_beats_every_other_sign() -> None:
    row = verdict(dump_set(4, n_idle=1), [wait(0, 3, "idle")], [mismatch("abaa", minority=(1,))], stalls=[stall(2, 5)])
    assert named(row) == ("op_mismatch", "software", [1])
    assert (row["pg_name"], row["seq"], row["confidence"]) == ("0", 5, "high")
    assert row["evidence"] == ["s1:5", "s0:5", "s2:5", "s3:5"]


def test_the_earliest_mismatch_tells_and_one_apart_from_it_is_a_weaker_suspect() -> None:
    late = mismatch("aab", seq=9, minority=(2,), is_first=False)
    apart = mismatch("aab", seq=8, ranks=(4, 5, 6), minority=(6,))
    row = verdict(dump_set(8), mismatches=[late, apart, mismatch("baa", seq=7, minority=(0,))])
    assert (named(row), row["suspects"], row["seq"]) == (("op_mismatch", "software", [0]), [6], 7)


def test_a_message_too_few_or_too_many_names_the_rank_that_counted_wrong() -> None:
    cycle = [wait(1, 0, "elsewhere", is_p2p=True, pg_key="p"), wait(0, 2, "elsewhere"), wait(2, 1, "elsewhere", is_p2p=True)]
    for found in (transfer(0, 1, 1), transfer(0, 1, 3)):
        row = verdict(dump_set(3), cycle, transfers=[found])
        assert (named(row), row["confidence"]) == (("sequence_shift", "software", [0]), "medium")
        assert row["evidence"][0] == "s0:4"


def test_messages_that_several_ranks_or_nobody_who_waits_miscounted_name_nobody() -> None:
    cycle = [wait(1, 0, "elsewhere", is_p2p=True, pg_key="p"), wait(0, 1, "elsewhere")]
    two = [transfer(0, 1, 1), transfer(1, 0, 1, is_send=False)]
    assert verdict(dump_set(2), cycle, transfers=two)["culprits"] == []
    assert verdict(dump_set(4), cycle, transfers=[transfer(2, 3, 1)])["culprits"] == []


def test_a_rank_that_stopped_is_named_before_one_that_counted_wrong() -> None:
    waits = [wait(1, 0, "elsewhere", is_p2p=True), wait(0, 2, "idle")]
    assert verdict(dump_set(4, n_idle=1), waits, transfers=[transfer(0, 1, 1)])["culprits"] == [2]


def test_of_two_ranks_the_sequences_tell_which_is_out_of_step() -> None:
    row = verdict(dump_set(2), mismatches=[mismatch("ab")], shifts=[shift(0, 1, is_usual=False)])
    assert named(row) == ("sequence_shift", "software", [0])
    row = verdict(dump_set(2), mismatches=[mismatch("ab")], shifts=[shift(0, 1, is_usual=True)])
    assert named(row) == ("sequence_shift", "software", [1])


def test_two_ranks_that_nothing_separates_are_both_named_low() -> None:
    for shifts in ([], [shift(0, 1, is_usual=False), shift(1, 0, is_usual=False)]):
        row = verdict(dump_set(2), mismatches=[mismatch("ab")], shifts=shifts)
        assert (named(row), row["confidence"]) == (("op_mismatch", "software", [0, 1]), "low")
    row = verdict(dump_set(4), mismatches=[mismatch("aabb")])
    assert (named(row), row["suspects"]) == (("op_mismatch", "software", []), [0, 1, 2, 3])


def test_the_usual_order_tells_where_the_sequences_do_not() -> None:
    habits = [{**SET, "pg_key": "0", "seq": 5, "rank": rank, "is_usual": rank == 0} for rank in (0, 1)]
    both = [shift(0, 1, is_usual=True), shift(1, 0, is_usual=True)]
    for shifts, finding in ((both, "sequence_shift"), ([], "op_mismatch")):
        row = verdict(dump_set(2), mismatches=[mismatch("ab")], shifts=shifts, habits=habits)
        assert named(row) == (finding, "software", [1])


def test_a_rank_that_differs_elsewhere_too_breaks_a_tie() -> None:
    row = verdict(dump_set(4), mismatches=[mismatch("ab"), mismatch("aba", seq=6, is_first=False, minority=(1,))])
    assert named(row) == ("op_mismatch", "software", [1])


def test_a_rank_that_does_not_see_what_its_peers_have_done() -> None:
    waits = [wait(0, 1, "ahead", lag=2), wait(1, 2, "idle")]
    row = verdict(dump_set(4, n_idle=1), waits, stalls=[stall(0, 2), stall(0, 3, "1"), stall(2, 1)])
    assert (named(row), row["confidence"]) == (("completion_stuck", "gpu", [0]), "high")
    row = verdict(dump_set(4, n_idle=1, is_far_apart=True), waits, stalls=[stall(0, 2)])
    assert named(row) == ("undecidable", "unknown", [])


def test_a_rank_that_has_not_started_what_the_others_have() -> None:
    waits = [wait(a, b, "at_same_op", is_started=a != 2) for a in range(3) for b in range(3) if a != b]
    assert named(verdict(dump_set(3), waits)) == ("completion_stuck", "gpu", [2])


def test_a_cycle_is_the_minority_that_uses_groups_in_another_order() -> None:
    cycle = [wait(a, 3, "elsewhere") for a in range(3)] + [wait(3, a, "elsewhere", pg_key="1", pg_name="1") for a in range(3)]
    assert named(verdict(dump_set(5), [*cycle, wait(4, 0, "elsewhere")])) == ("order_cycle", "software", [3])
    further = [reached(rank, "1", 9 if rank == 3 else 7) for rank in range(4)]
    assert named(verdict(dump_set(4), cycle, groups=further)) == ("sequence_shift", "software", [3])
    pair = [wait(0, 1, "queued"), wait(1, 0, "queued", pg_key="1", pg_name="1"), wait(2, 0, "elsewhere")]
    row = verdict(dump_set(3), pair)
    assert (named(row), row["suspects"], row["confidence"]) == (("order_cycle", "software", []), [0, 1], "low")


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
    """Whoever waits for somebody who is not there is named by no verdict, but a rank that others of a cycle wait for."""
    waits = [wait(rank, member, situation, lag=lag) for rank, member, situation, lag in drawn if rank != member]
    row = verdict(dump_set(6), waits)
    waiters = {one["rank"] for one in waits}
    ends = {one["member"] for one in waits if one["situation"] in ("idle", "no_dump")}
    if row["finding"] in ("never_joined", "no_dump"):
        assert set(row["culprits"]) <= ends
    elif row["finding"] not in ("order_cycle", "sequence_shift"):
        assert row["culprits"] == []
    assert row["finding"] != "none" or not waiters or all(one["situation"] in ("ahead", "at_same_op") for one in waits)
