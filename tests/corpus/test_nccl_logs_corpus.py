"""Lines of hung jobs, RAS reports and inspector records with known truth: the right ranks are named, or nobody."""

import json
import random
from pathlib import Path

import pytest

from bathtub.hang import hang
from bathtub.hang_logs import hang_from_logs
from bathtub.ingest import Batch, claimants, formats
from bathtub.source import Quarantine, head
from tests.cases import rows_of, source
from tests.conftest import CORPUS

EXPECTED = CORPUS / "nccl" / "expected.json"
TRUTH = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {"logs": {}, "ras": {}}
OURS = ("job_output", "nccl_ras", "nccl_inspector")
N_MUTATIONS = 2000


def files(corpus: Path) -> list[Path]:
    """Every file of lines, reports and records, and what gloo's ranks wrote to stderr."""
    folders = ("logs/*", "ras/*", "inspector/*", "real_gloo/*/stderr_rank_*.log")
    found = sorted(path for pattern in folders for path in (corpus / "nccl").glob(pattern))
    return [path for path in found if path.stat().st_size]


@pytest.mark.parametrize("name", TRUTH["logs"])
def test_the_right_ranks_and_class_from_lines_alone(name: str, corpus: Path) -> None:
    expected = TRUTH["logs"][name]
    found = hang([corpus / "nccl" / "logs" / f"{name}.log"])
    assert (found["culprits"], found["class"]) == (expected["culprits"], expected["class"])
    assert found["suspects"] == []
    assert found["evidence"]


@pytest.mark.parametrize("name", [name for name, told in TRUTH["ras"].items() if "laggards" in told])
def test_ras_names_the_laggards_as_suspects_and_the_missing(name: str, corpus: Path) -> None:
    found = hang([corpus / "nccl" / "ras" / name])
    expected = TRUTH["ras"][name]
    assert (found["culprits"], found["suspects"], found["missing"]) == ([], expected["laggards"], expected["missing"])


@pytest.mark.parametrize("name", ["text_mismatch.txt", "text_ok_but_hung.txt"])
def test_ras_text_names_nobody_and_is_no_proof_of_health(name: str, corpus: Path) -> None:
    found, _ = hang_from_logs([corpus / "nccl" / "ras" / name])
    assert found is not None
    assert (found["culprits"], found["suspects"], found["hang_class"]) == ([], [], "unknown")
    assert found["finding"] == {"text_mismatch.txt": "ras_lag", "text_ok_but_hung.txt": "only_waiters"}[name]


def test_a_folder_is_one_set(corpus: Path, tmp_path: Path) -> None:
    lines = (corpus / "nccl" / "logs" / "two_never_enqueued.log").read_text().splitlines(keepends=True)
    for part in range(3):
        (tmp_path / f"rank_{part}.log").write_text("".join(lines[part::3]))
    assert hang([tmp_path])["culprits"] == [3, 6]


def test_every_file_is_claimed_once(corpus: Path) -> None:
    for path in files(corpus):
        expected = {".json": "nccl_ras", ".jsonl": "nccl_inspector"}.get(path.suffix, "job_output")
        assert [known.name for known in claimants(head(path), path.name)] == [expected], path


def test_one_event_in_six_wordings(corpus: Path) -> None:
    batches = list(formats()["job_output"].parse(source(corpus / "nccl" / "logs" / "net_ib_variants.log")))
    rows = [row for row in rows_of(batches, "nccl_events") if row["kind"] == "net_ib_error"]
    assert [row["status"] for row in rows] == [12, 12, 12, 12, 12, 4, 5, 12]
    assert {row["vendor_err"] for row in rows if row["status"] == 12} == {129}
    assert {row["peer"] for row in rows if row["status"] == 12} == {"10.20.88.182"}


def test_inspector_records(corpus: Path) -> None:
    batches = list(formats()["nccl_inspector"].parse(source(corpus / "nccl" / "inspector" / "v4.0.jsonl")))
    rows = list(rows_of(batches, "collective_speeds"))
    assert [(row["op"], row["seq"], row["elapsed_us"]) for row in rows] == [
        ("AllReduce", 410, 9100),
        ("ReduceScatter", 410, 3300),
        ("AllReduce", 412, 9180),
    ]


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content after one to four cuts, flips, repeats, insertions or swaps of digits."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(max(1, len(content)))
        length = chance.randint(1, 40)
        piece = content[at : at + length]
        content = chance.choice(
            [
                content[:at] + content[at + length :],
                content[:at] + piece * chance.randint(2, 30) + content[at:],
                content[:at] + chance.randbytes(length) + content[at + length :],
                content[:at] + b"9" * length + content[at:],
                content[:at] + b"\n" + content[at:],
                content[:at] + "²٣\x85\u2028".encode() + content[at:],
                content[: max(1, at)],
            ]
        )
    return content


def test_mutated_files_are_read_or_refused(corpus: Path, tmp_path: Path) -> None:
    chance, known, path = random.Random(20261130), formats(), tmp_path / "input"
    contents = [(path.read_bytes(), claimants(head(path), path.name)[0].name) for path in files(corpus)]
    for _ in range(N_MUTATIONS):
        content, name = chance.choice(contents)
        path.write_bytes(mutated(content, chance))
        zone = chance.choice([None, "Europe/Berlin"])
        try:
            batches: list[Batch] = list(known[name].parse(source(path, zone=zone)))
        except Quarantine:
            assert name == "nccl_ras"
            continue
        n_read = sum(batch.read for batch in batches)
        assert n_read == sum(batch.kept + batch.rejected + batch.out_of_scope for batch in batches)
        if name == "job_output":
            written = path.read_bytes()
            assert n_read == written.count(b"\n") + (written != b"" and not written.endswith(b"\n"))
