"""Dumps are hostile: each is read, or refused with a reason, soon, in little memory, and nothing in it is ever executed."""

import gzip
import io
import os
import pickle
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bathtub.ingest import Quarantine, _recorder_reader, claim, flight_recorder
from bathtub.ingest._recorder_child import MAX_MEMORY, allowance_s
from bathtub.ingest._recorder_pickle import Refused, _Plain
from bathtub.ingest._recorder_reader import READER, DumpReader
from bathtub.source import head
from tests.cases import source
from tests.make_dumps import dump, entry, torch_pickle, waiting

GOOD = torch_pickle(dump(waiting()))


class Runs:
    """Makes a file when it is loaded freely."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def laughs(levels: int = 39, width: int = 10) -> bytes:
    """A list of lists, each ten times the one before: few bytes, 10^39 items."""
    links = [b"]q" + bytes([level]) + b"(" + (b"h" + bytes([level - 1])) * width + b"e" for level in range(1, levels + 1)]
    return b"](]q\x00" + b"".join(links) + b"e"


def put(field: bytes, value: bytes) -> bytes:
    """An otherwise good pickle of a dump with this raw value under an own key."""
    return GOOD[:-2] + b"X" + struct.pack("<I", len(field)) + field + value + b"u."


TEXT = b"X\x07\x00\x00\x00echo >x"
HOSTILE = {
    "global_reduce": (b"\x80\x02cos\nsystem\n" + TEXT + b"\x85R.", "pickle_global"),
    "stack_global": (b"\x80\x02X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93" + TEXT + b"\x85R.", "pickle_global"),
    "stack_global_protocol_4": (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "unexpected_opcode"),
    "inst": (b"\x80\x02(" + TEXT + b"ios\nsystem\n.", "pickle_global"),
    "obj": (b"\x80\x02(cos\nsystem\n" + TEXT + b"o.", "pickle_global"),
    "newobj": (b"\x80\x02cos\nsystem\n)\x81.", "pickle_global"),
    "extension": (b"\x80\x02\x82\x01.", "pickle_global"),
    "build": (b"\x80\x02}}b.", "pickle_global"),
    "reduce_of_nothing": (b"\x80\x02})R.", "pickle_global"),
    "persistent_text": (b"\x80\x02Pevil\n.", "pickle_global"),
    "persistent_value": (b"\x80\x02NQ.", "pickle_global"),
    "global_among_good_entries": (put(b"more", b"cos\nsystem\n"), "pickle_global"),
    "memo_of_nine_bytes": (b"\x80\x02]r\x00\x00\x00\x10.", "memo_bomb"),
    "memo_largest": (b"\x80\x02]r\xff\xff\xff\x7f.", "memo_bomb"),
    "text_length_lie": (b"\x80\x02X\xff\xff\xff\x7fabc.", "text_too_long"),
    "text_of_two_mib": (put(b"more", b"X" + struct.pack("<I", 2 << 20) + b"a" * (2 << 20)), "text_too_long"),
    "bytes_length_lie": (b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"abc.", "unexpected_opcode"),
    "frame_length_lie": (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"}.", "unexpected_opcode"),
    "bytearray_length_lie": (b"\x80\x05\x96" + struct.pack("<Q", 1 << 34) + b"abc.", "unexpected_opcode"),
    "long_of_ten_bytes": (b"\x80\x02\x8a\x0a" + b"\x7f" * 10 + b".", "number_too_long"),
    "long4_length_lie": (b"\x80\x02\x8b\xff\xff\xff\x7f\x01.", "unexpected_opcode"),
    "integer_of_a_million_digits": (b"\x80\x02I" + b"9" * 1_000_000 + b"\n.", "unexpected_opcode"),
    "laughs_on_top": (b"\x80\x02" + laughs() + b".", "bad_structure"),
    "laughs_as_entries": (put(b"entries", laughs()), None),
    "laughs_as_sizes": (put(b"entries", b"](}(X\x0b\x00\x00\x00input_sizes" + laughs(9) + b"ue"), None),
    "a_list_shared_a_million_times": (
        b"\x80\x02}X\x07\x00\x00\x00versionX\x03\x00\x00\x002.9sX\x07\x00\x00\x00entries](}X\x0b\x00\x00\x00input_sizes]("
        b"](" + b"K\x01" * 60_000 + b"eesq\x01" + b"h\x01" * 900_000 + b"es.",
        "too_many_items",
    ),
    "a_wrong_value_shared_a_million_times": (
        b"\x80\x02}X\x07\x00\x00\x00versionX\x03\x00\x00\x002.9sX\x07\x00\x00\x00entries](}X\x0b\x00\x00\x00input_sizes]("
        + b"N" * 1_000_000
        + b"esq\x01"
        + b"h\x01" * 900_000
        + b"es.",
        "too_many_items",
    ),
    "texts_without_end": (b"\x80\x02](" + b"X\x01\x00\x00\x00a" * 1_100_000 + b"e.", "too_many_items"),
    "entries_beyond_any_ring": (
        b"\x80\x02}X\x07\x00\x00\x00versionX\x03\x00\x00\x002.9sX\x07\x00\x00\x00entries]}q\x01a("
        + b"h\x01" * 1_100_000
        + b"es.",
        "too_many_entries",
    ),
    "nested_a_million_deep": (b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".", "bad_structure"),
    "nested_tuples_as_key": (b"\x80\x02}N" + b"\x85" * 1_000_000 + b"Ns.", "reader_died"),
    "stack_underflow": (b"\x80\x02eee.", "damaged_pickle"),
    "unhashable_key": (b"\x80\x02}]Ns.", "damaged_pickle"),
    "unset_memo": (b"\x80\x02h\x07.", "damaged_pickle"),
    "nothing": (b"\x80\x02.", "damaged_pickle"),
    "a_number": (b"\x80\x02K\x01.", "bad_structure"),
    "no_version": (pickle.dumps({"entries": []}, 2), "bad_structure"),
    "version_a_number": (pickle.dumps({"version": 2.1, "entries": []}, 2), "bad_structure"),
    "no_entries": (pickle.dumps({"version": "2.10"}, 2), "bad_structure"),
    "config_a_list": (pickle.dumps({"version": "2.10", "entries": [], "pg_config": [1]}, 2), "bad_structure"),
    "code_in_ranks": (pickle.dumps(dump([], ranks="[0] + [1]*os.getpid()"), 2), "code_in_ranks"),
    "truncated_header": (b"\x80", "truncated_pickle"),
    "truncated_in_the_configuration": (GOOD[:100], "truncated_pickle"),
    "overwritten_with_nul": (GOOD[:150] + b"\0" * (len(GOOD) - 150), "truncated_pickle"),
    "code_before_the_cut": (b"\x80\x02}(" + b"cos\nsystem\n" + b"X\x07\x00\x00\x00entries](", "pickle_global"),
    "bomb_before_the_cut": (b"\x80\x02}(" + b"]r\x00\x00\x00\x10" + b"X\x07\x00\x00\x00entries](", "memo_bomb"),
    "lists_of_lists_of_entries": (
        b"\x80\x02](}(X\x05\x00\x00\x00pg_idK\x00X\x06\x00\x00\x00seq_idK\x01X\x05\x00\x00\x00stateNX\x0b\x00\x00\x00input_sizes"
        + laughs(9)
        + b"ue.",
        None,
    ),
    "two_dumps": (GOOD + GOOD, "two_dumps"),
    "json_nested": (b'{"version": "2.10", "pg_config": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "bad_json"),
    "json_truncated": (b'{"version": "2.10", "pg_config": {', "truncated_json"),
}


CUT = {"half": GOOD[: len(GOOD) // 2], "by_one": GOOD[:-1], "nul": GOOD[:400] + b"\0" * (len(GOOD) - 400)}


@pytest.mark.parametrize("case", CUT)
def test_a_cut_dump_is_rejected_and_its_watermarks_are_kept(case: str, tmp_path: Path) -> None:
    path = tmp_path / "nccl_trace_rank_1"
    path.write_bytes(CUT[case])
    (batch,) = parse(path)
    assert (batch.read, batch.kept, batch.rejected) == (1, 0, 1)
    assert batch.rejects["reason"].to_list() == ["truncated_pickle"]
    assert batch.frames["dumps"]["flags"].to_list() == [["truncated_pickle"]]
    assert batch.frames["collectives"].is_empty()
    assert batch.frames["process_groups"].drop_nulls("last_enqueued").select("last_enqueued", "last_completed").rows() == [(3, 2)]


def parse(path: Path):
    return list(flight_recorder.FORMAT.parse(source(path, f"set/{path.name}")))


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_dump_is_refused_with_its_reason_soon_and_in_little_memory(case: str, tmp_path: Path) -> None:
    content, reason = HOSTILE[case]
    path = tmp_path / "nccl_trace_rank_3"
    path.write_bytes(content)
    assert claim(head(path), path.name).name == "flight_recorder"
    started = time.monotonic()
    if reason is None:
        assert parse(path)[0].kept == 1
    else:
        with pytest.raises(Quarantine) as refused:
            parse(path)
        assert refused.value.reason == reason
        assert refused.value.detail
    assert time.monotonic() - started < 2
    assert peak_of_child() <= MAX_MEMORY


def peak_of_child() -> int:
    """Peak address space of the reading process in bytes; 0 when it has ended."""
    if not READER._idle:
        return 0
    status = Path(f"/proc/{READER._idle[-1].pid}/status")
    peaks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmPeak")] if status.exists() else []
    return int(peaks[0]) * 1024 if peaks else 0


def test_nothing_is_executed(tmp_path: Path) -> None:
    marker, path = tmp_path / "executed", tmp_path / "rank_0"
    for protocol in range(2, 6):
        path.write_bytes(pickle.dumps({"version": "2.10", "entries": [Runs(marker)]}, protocol))
        with pytest.raises(Quarantine):
            parse(path)
    path.write_bytes(pickle.dumps(dump([], ranks=f"\"__import__('os').mkdir({str(marker)!r})\""), 2))
    with pytest.raises(Quarantine):
        parse(path)
    assert not marker.exists()
    pickle.loads(pickle.dumps(Runs(marker), 2))
    assert marker.exists(), "the marker would have shown it"


def test_the_unpickler_refuses_globals_without_the_scan() -> None:
    for content in (b"\x80\x02cos\nsystem\n.", b"\x80\x02NQ.", b"\x80\x04\x8c\x02os\x8c\x06system\x93."):
        with pytest.raises(Refused, match="pickle_global"):
            _Plain(io.BytesIO(content)).load()


def test_a_compressed_hostile_dump_is_refused_like_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "rank_0.gz"
    path.write_bytes(gzip.compress(HOSTILE["global_reduce"][0]))
    with pytest.raises(Quarantine, match="pickle_global"):
        parse(path)


def test_a_file_beyond_the_cap_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "rank_0.gz"
    path.write_bytes(gzip.compress(b"\x80\x02" + b"\0" * (flight_recorder.MAX_BYTES + 1), 1))
    with pytest.raises(Quarantine, match="file_too_large"):
        parse(path)


def test_a_dump_that_takes_all_memory_is_refused_and_the_next_one_is_read() -> None:
    reader = DumpReader()
    assert reader.read(GOOD).n_entries == 3
    with pytest.raises(Quarantine, match="too_much_memory"):
        reader.read(b"\x80\x02" + b"]" * 30_000_000 + b".")
    assert reader.read(GOOD).n_entries == 3
    reader.close()


def test_a_dump_that_takes_too_long_is_refused_and_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child's own clock ends it: here it has a twentieth of a second."""
    short = "import bathtub.ingest._recorder_child as child; child.allowance_s = lambda n: 0.05 if n > 9999 else 5.0; main()"
    monkeypatch.setattr(_recorder_reader, "_START", _recorder_reader._START.replace("\nmain()", "\n" + short))
    reader = DumpReader()
    with pytest.raises(Quarantine, match="too_much_time"):
        reader.read(b"\x80\x02](" + b"X\0\0\0\0" * 1_000_000 + b"e.")
    assert reader.read(GOOD).n_entries == 3
    reader.close()


def test_a_child_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_recorder_reader, "_START", "import sys, time; sys.stdin.buffer.read(9); time.sleep(60)")
    monkeypatch.setattr(_recorder_reader, "PATIENCE_S", 0.1 - 8 * allowance_s(len(GOOD)))
    reader = DumpReader()
    with pytest.raises(Quarantine, match="too_much_time"):
        reader.read(GOOD)
    assert reader._idle == []


def test_a_child_that_was_killed_is_started_anew() -> None:
    reader = DumpReader()
    reader.read(GOOD)
    (child,) = reader._idle
    child.kill()
    child.wait()
    assert reader.read(GOOD).n_entries == 3
    reader.close()


def test_the_child_loads_neither_polars_nor_duckdb() -> None:
    READER.read(GOOD)
    maps = Path(f"/proc/{READER._idle[-1].pid}/maps")
    assert not maps.exists() or not any(name in maps.read_text() for name in ("polars", "duckdb", "pyarrow", "numpy"))


def random_dumps():
    """Good dumps with some bytes replaced, cut out or repeated."""
    edit = st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 12), st.binary(max_size=12))
    return st.lists(edit, max_size=6).map(lambda edits: mutated(GOOD, edits))


def mutated(content: bytes, edits) -> bytes:
    for at, gone, new in edits:
        content = content[:at] + new + content[at + gone :]
    return content


def reads_or_refuses(content: bytes) -> None:
    """Anything but Quarantine fails the test; so does the death of the reading process."""
    reason = None
    try:
        found = READER.read(content)
        assert {len(column) for column in found.integers.values()} <= {8 * found.n_entries, 0}
        assert len(found.form) == 4 * found.n_entries
    except Quarantine as refused:
        reason = refused.reason
    assert reason != "reader_died"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    reads_or_refuses(b"\x80\x02" + content)
    reads_or_refuses(content)


@given(random_dumps())
def test_any_damaged_dump_is_read_or_refused(content: bytes) -> None:
    reads_or_refuses(content)


scalars = st.none() | st.booleans() | st.integers(-(1 << 63), 1 << 64) | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(st.sampled_from(sorted(entry(0, 1))), values, st.sampled_from(sorted(dump([]))), values)
def test_any_value_in_any_field_is_read_or_refused(key: str, value: object, top: str, other: object) -> None:
    damaged = dump([entry(0, 1, **{key: value}) if key != "op" else entry(0, 1)])
    reads_or_refuses(pickle.dumps(damaged, 2))
    reads_or_refuses(pickle.dumps({**damaged, top: other}, 2))


@given(value=values)
def test_a_dump_of_any_values_gives_frames(value: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "rank_0"
    path.write_bytes(pickle.dumps(dump([entry(0, 1, **dict.fromkeys(entry(0, 1), value))]), 2))
    batch = parse(path)[0]
    assert (batch.read, batch.kept) == (1, 1)
    assert batch.frames["collectives"].height == 1
