"""JSON in pieces: no bytes break the decoder, no piece size changes what is read, every record is accounted for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bathtub.ingest import Quarantine, _json, formats
from bathtub.ingest._json import Guard, objects, opening
from bathtub.ingest._slurm_json_values import UNLIMITED, number, state, unwrap
from tests.cases import TESTS, rows_of, source

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**64), st.text(max_size=6), st.floats(allow_nan=False, allow_infinity=False)
)
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4))
KEYS = ("job_id", "state", "time", "exit_code", "tres", "steps", "array", "het", "nodes", "required", "job_state", "submit_time")
STRUCT = st.fixed_dictionaries({"set": st.booleans(), "infinite": st.booleans(), "number": ANY})
JOBS = st.lists(st.dictionaries(st.sampled_from(KEYS), ANY | STRUCT, max_size=8) | ANY, max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json")


@given(jobs=JOBS, errors=st.lists(ANY, max_size=2))
def test_any_object_of_jobs_is_accounted_for(folder: Path, jobs: list[object], errors: list[object]) -> None:
    path = folder / "input.json"
    path.write_text(json.dumps({"errors": errors, "jobs": jobs}), encoding="utf-8")
    batches = list(formats()["slurm_json"].parse(source(path)))
    assert sum(batch.read for batch in batches) == len(jobs) + len(errors)
    assert sum(batch.kept for batch in batches) == len(list(rows_of(batches, "jobs")))


@pytest.mark.parametrize("name", ["slurm_json", "fault_trace"])
@given(noise=st.binary(max_size=80), cut=st.integers(0, 400))
def test_any_bytes_are_read_or_refused(folder: Path, name: str, noise: bytes, cut: int) -> None:
    content = (TESTS / "ingest" / name).glob("*/input.json")
    path = folder / "bytes.json"
    whole = min(content).read_bytes()
    path.write_bytes(whole[:cut] + noise + whole[cut:])
    assert formats()[name].claims(path.read_bytes()[:65536], "x") in {True, False}
    try:
        batches = list(formats()[name].parse(source(path, zone="UTC", epoch=None)))
    except Quarantine:
        return
    for batch in batches:
        assert batch.read == batch.kept + batch.rejected + batch.out_of_scope


@given(value=ANY, size=st.integers(1, 7))
def test_the_guard_follows_any_text_in_any_pieces(value: object, size: int) -> None:
    text, guard = json.dumps(value).encode(), Guard()
    assert all(guard.lets_pass(text[at : at + size]) for at in range(0, len(text), size))
    assert not guard.lets_pass(b"[" * (_json.MAX_DEPTH + 1))


def test_brackets_in_strings_are_no_depth() -> None:
    guard = Guard()
    assert all(guard.lets_pass(piece) for piece in (b'"' + b"[" * 99, b"\\", b'"' + b"{" * 99, b'"', b"[]"))


@pytest.mark.parametrize("size", [1, 3, 64, 1 << 20])
def test_small_pieces_give_what_large_ones_give(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = source(TESTS / "ingest" / "slurm_json" / "invalid_utf8" / "input.json")
    whole = list(objects(given, "jobs.item"))
    chunks = type(given).chunks
    monkeypatch.setattr(type(given), "chunks", lambda self: chunks(self, size))
    assert list(objects(given, "jobs.item")) == whole


HOSTILE = {"deep": b"[" * 300_000, "digits": b"9" * 5000, "exponent": b"1e99999999999999999999"}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_breaks_the_decoder_is_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(b'{"jobs": [' + text + b"]}")
    with pytest.raises(Quarantine) as refused:
        list(objects(source(path), "jobs.item"))
    assert refused.value.reason == "bad_json"
    assert ("", "jobs") not in opening(path.read_bytes()[:65536]) or text is HOSTILE["exponent"]


PEAK = """
import sys
from pathlib import Path
from bathtub.ingest import formats
from tests.cases import source
kept = sum(batch.kept for batch in formats()["slurm_json"].parse(source(Path(sys.argv[1]))))
status = Path("/proc/self/status").read_text()
print(kept, status.split("VmHWM:")[1].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    job = json.loads((TESTS / "ingest/slurm_json/parser_v0_0_40_structs/input.json").read_text())["jobs"][0]
    peaks = []
    for n_jobs in (2_500, 7_500):
        path = tmp_path / f"{n_jobs}.json"
        path.write_text('{"jobs": [' + ",".join([json.dumps(job)] * n_jobs) + "]}")
        command = [sys.executable, "-c", PEAK, str(path)]
        done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True)
        kept, peak = map(int, done.stdout.split())
        assert kept == n_jobs
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


WRAPPED = [
    (5, 5), ("5", 5), ([5], 5), ({"set": True, "infinite": False, "number": 5}, 5), (None, None), ({}, None), ([], None),
    ({"set": False, "infinite": False, "number": 0}, None), (4294967294, None), (-2, None), (True, None), ("Infinity", None),
    ({"set": True, "infinite": True, "number": 0}, None), ("\u0665", None), ([1, 2], None), (2**64 - 2, None), ("05", 5),
]  # fmt: skip


@pytest.mark.parametrize("value, expected", WRAPPED)
def test_numbers_in_every_wrapping(value: object, expected: int | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize("value", ["Infinity", 4294967295, 2**64 - 1, {"set": False, "infinite": True, "number": 0}])
def test_infinite_in_every_wrapping(value: object) -> None:
    assert unwrap(value) == UNLIMITED


@given(names=st.sets(st.sampled_from(["FAILED", "REQUEUED", "RUNNING", "POWER_UP_NODE", "NEW"])))
def test_the_order_of_a_state_means_nothing(names: set[str]) -> None:
    assert state(names) == state({*sorted(names, reverse=True)})
    assert "REQUEUED" not in names or state(names) == "REQUEUED"


@pytest.mark.parametrize("name", ["slurm_json", "fault_trace"])
def test_every_reason_of_a_case_stands_on_the_page_of_its_format(name: str) -> None:
    page = __import__(f"bathtub.ingest.{name}", fromlist=["__doc__"]).__doc__
    cases = TESTS / "ingest" / name
    reasons = {line.split(",")[1] for file in cases.glob("*/rejects.csv") for line in file.read_text().splitlines()[1:]}
    reasons |= {file.read_text().strip() for file in cases.glob("*/quarantine.txt")}
    assert {reason for reason in reasons if reason not in page} == set()
