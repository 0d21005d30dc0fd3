"""Real and synthetic dump sets with known culprits: the right ranks are named, or nobody. Never others."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bathtub.hang import hang
from tests.conftest import CORPUS

IN_SCOPE = {"no_data", "never_joined", "no_dump", "all_joined", "none"}
FORMS = ("pickle", "pickle_onlyactive_nostack", "json")
NOT_READ = {"synth_versions/torch2.2_list", "synth_versions/1.4"}  # layouts that are refused, with their reason


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


@pytest.mark.parametrize("with_world", [False, True], ids=["alone", "world"])
@pytest.mark.parametrize("folder", SNAPSHOTS)
def test_the_right_ranks_or_nobody(folder: str, with_world: bool, corpus: Path, tmp_path: Path) -> None:
    expected = SNAPSHOTS[folder]
    found = judged(corpus, folder, tmp_path, expected["world"] if with_world else None)
    named = (found["finding"], found["class"], found["culprits"])
    is_told = expected["finding"] in IN_SCOPE and folder not in NOT_READ and (with_world or not expected.get("needs_world"))
    if is_told:
        assert named == (expected["finding"], expected["class"], expected["culprits"])
        assert not set(found["suspects"]) - set(expected.get("may_name", []))
        if "group" in expected:
            assert (found["group"], found["seq"]) in ((expected["group"], expected["seq"]), (None, None))
        if expected["finding"] in ("never_joined", "no_dump"):
            assert found["evidence"]
    elif found["culprits"]:
        assert named == (expected["finding"], expected["class"], expected["culprits"])
    else:
        assert found["finding"] == "unknown"
        assert not found["suspects"]


@pytest.mark.parametrize("folder", sorted(NOT_READ))
def test_layouts_that_are_not_read_are_refused_and_name_nobody(folder: str, corpus: Path, tmp_path: Path) -> None:
    found = judged(corpus, folder, tmp_path, None)
    assert (found["finding"], found["culprits"], found["summary"]) == ("unknown", [], "no dump can be read")
    assert len(found["evidence"]) == 8


def test_cut_files_beside_good_ones_change_no_culprit(corpus: Path, tmp_path: Path) -> None:
    folder = corpus / "nccl" / "synth_small" / "scheduled_waiters_pickle"
    for rank in range(8):
        content = (folder / f"nccl_trace_rank_{rank}").read_bytes()
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(content[:4000] if rank in (0, 3) else content)
    found = hang([tmp_path])
    assert (found["finding"], found["culprits"], found["suspects"]) == ("never_joined", [5], [0, 3])
