"""The demo is right end to end, for the seed that is shown and for others, and in a terminal's words."""

import json
from datetime import date
from pathlib import Path

import pytest

from bathtub.config import load
from bathtub.demo import compare, score
from bathtub.nightly import Window, nightly
from bathtub.simulate import write_demo
from tests.test_cli import bathtub

RIGHT = {"planted": 19, "found": 19, "right": 19, "wrong_confident": 0, "missed": 0, "extra": 0}


@pytest.mark.parametrize("seed", [1, 2, 7, 23])
def test_everything_planted_is_judged_as_its_evidence_allows(tmp_path: Path, seed: int) -> None:
    write_demo(tmp_path, seed)
    window = Window.of("Europe/Berlin", None, date(2026, 3, 2), date(2026, 3, 15))
    result = nightly(tmp_path / "inbox", tmp_path / "lake", tmp_path / "out", load(tmp_path / "bathtub.toml"), window)
    assert (result.exit_code, result.findings) == (0, [])
    assert score(compare(tmp_path / "out" / "incidents.csv", tmp_path / "truth.csv")) == RIGHT


def test_the_command_prints_found_beside_planted(tmp_path: Path) -> None:
    done = bathtub("demo", "--out", tmp_path / "demo", "--json")
    assert done.returncode == 0
    last = json.loads(done.stdout.splitlines()[-1])
    assert {name: last["row"][name] for name in RIGHT} == RIGHT
    shown = bathtub("demo", "--out", tmp_path / "demo")
    assert shown.returncode == 0
    for part in ("a-hbm-contained", "19 of 19", "incidents.csv", "bathtub explain inc-"):
        assert part in shown.stdout
