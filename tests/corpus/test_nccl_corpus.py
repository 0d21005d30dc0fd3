"""Real and synthetic dump sets with known culprits: every snapshot in every form gives the right finding, class and ranks."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bathtub.hang import hang
from tests.conftest import CORPUS

FORMS = ("pickle", "pickle_onlyactive_nostack", "json")


def snapshots() -> Iterator[tuple[str, dict[str, object]]]:
    """Folder below the corpus and what is right there, each snapshot in each form."""
    path = CORPUS / "nccl" / "expected.json"
    for case, right in json.loads(path.read_text())["cases"].items() if path.exists() else ():
        common = {"world": right["world"]}
        for snapshot, expected in right.get("snapshots", {}).items():
            for form in FORMS:
                yield f"{case}/{snapshot}/{form}", {**common, **expected}
        if "snapshots" not in right:
            yield case, {**common, **right}


SNAPSHOTS = dict(snapshots())


def judged(corpus: Path, folder: str, tmp_path: Path, world: int | None) -> dict[str, object]:
    """The verdict on a copy of the dumps alone: logs and truth files of a case stay behind."""
    for dump in (corpus / "nccl" / folder).iterdir():
        if dump.suffix != ".log":
            shutil.copy(dump, tmp_path / dump.name)
    return hang([tmp_path], world)


@pytest.mark.parametrize("folder", SNAPSHOTS)
def test_a_snapshot_gives_the_right_ranks(folder: str, corpus: Path, tmp_path: Path) -> None:
    expected = SNAPSHOTS[folder]
    found = judged(corpus, folder, tmp_path, expected["world"] if expected.get("needs_world") else None)
    named = (found["finding"], found["class"], found["culprits"])
    assert named == (expected["finding"], expected["class"], expected["culprits"] or [])
    assert not set(found["suspects"]) - set(expected.get("may_name", []))
    if found["seq"] is not None and "seq" in expected:
        assert found["seq"] == expected["seq"]
        assert found["group"] == expected["group"]
    if expected["culprits"]:
        assert found["evidence"]


@pytest.mark.parametrize("folder", SNAPSHOTS)
def test_the_world_size_changes_no_name(folder: str, corpus: Path, tmp_path: Path) -> None:
    """Nor does its absence name others: without it only what needs it cannot be told."""
    expected = SNAPSHOTS[folder]
    found = judged(corpus, folder, tmp_path, None if expected.get("needs_world") else expected["world"])
    right = (expected["finding"], expected["culprits"] or [])
    assert (found["finding"], found["culprits"]) in (right, *([("undecidable", [])] if expected.get("needs_world") else []))


def test_cut_files_beside_good_ones_change_no_culprit(corpus: Path, tmp_path: Path) -> None:
    folder = corpus / "nccl" / "synth_small" / "scheduled_waiters_pickle"
    for rank in range(8):
        content = (folder / f"nccl_trace_rank_{rank}").read_bytes()
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(content[:4000] if rank in (0, 3) else content)
    found = hang([tmp_path])
    assert (found["finding"], found["culprits"], found["suspects"]) == ("never_joined", [5], [0, 3])
