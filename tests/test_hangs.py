"""Every scenario of tests/hang gives what its plan says: tests/hang/<scenario>/{dumps/*, expect.json}."""

import gzip
import json
from pathlib import Path

import pytest

from bathtub.hang import hang
from tests.make_hangs import FOLDER, scenarios

CASES = sorted(path for path in FOLDER.iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_scenario_gives_the_planted_ranks(case: Path) -> None:
    expected = json.loads((case / "expect.json").read_text())
    found = hang([case / "dumps"])
    assert (found["finding"], found["class"], found["culprits"]) == tuple(
        expected[key] for key in ("finding", "class", "culprits")
    )
    assert set(found["suspects"]) <= set(expected["may_name"])
    assert found["missing"] == expected.get("missing", found["missing"])
    assert expected.get("seq") in (None, found["seq"])


def test_a_hang_explains_itself() -> None:
    found = hang([FOLDER / "a_host_stops" / "dumps"])
    assert found["stalled"]["absent"] == found["culprits"] == [5]
    waits = {each["rank"]: each for each in found["waits"]}
    assert waits[4]["for"] == {"idle": [5]}
    assert "kernel log" in found["decides"]
    assert {"0"} < {group["group"] for group in found["groups"]}


def test_two_runs_are_named_as_such() -> None:
    found = hang([FOLDER / "two_runs_mixed" / "dumps"])
    assert "2 runs: ranks 1, 2 are of the first" in found["summary"]


def test_the_folders_are_what_the_plans_write() -> None:
    plans = scenarios()
    assert {case.name for case in CASES} == set(plans)
    for case in CASES:
        files, expected = plans[case.name]
        assert json.loads((case / "expect.json").read_text()) == expected
        assert {path.name: gzip.decompress(path.read_bytes()) for path in (case / "dumps").iterdir()} == {
            name: gzip.decompress(content) for name, content in files.items()
        }
