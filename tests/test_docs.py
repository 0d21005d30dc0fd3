"""What the documents list is what there is: generated parts are current, links lead somewhere, commands exist."""

import csv
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bathtub.config import load
from tests.cases import TESTS
from tests.generate_docs import commands, listing
from tests.reasons import calls

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text(encoding="utf-8") if (TOP / "README.md").exists() else ""
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md")), *sorted((TOP / ".github").glob("*.md"))]


def blocks(text: str) -> list[str]:
    return re.findall(r"```[a-z]*\n(.*?)```", text, re.DOTALL)


def test_the_generated_parts_are_current() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.generate_docs"], cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_commands_of_the_readme_exist() -> None:
    named = {line.split()[1] for block in blocks(README) for line in block.splitlines() if line.startswith("bathtub ")}
    assert named
    assert named - {"COMMAND"} <= set(commands())


def test_the_two_commands_of_the_readme_are_targets_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {word for block in blocks(README) for word in re.findall(r"^make ([a-z]+)$", block, re.MULTILINE)}
    assert {"demo", "test"} <= named <= targets


def test_the_example_of_a_configuration_can_be_loaded() -> None:
    config = load(TOP / "docs" / "bathtub.toml")
    assert config.settings("dumps/77/nccl_trace_rank_0").job_id == "77"


def test_the_committed_text_names_no_path_of_a_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(?:work|root|farm|home)/", page.read_text(encoding="utf-8")), page.name


def test_each_dependency_has_its_reason_among_the_decisions() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    decisions = README.partition("## Decisions")[2]
    assert {each for each in needed if each not in decisions} == set()


def test_every_reason_that_a_case_shows_is_listed() -> None:
    reasons = {reason for _, reason, _, _ in calls()}
    reasons |= {*listing("Rejects"), *listing("Quarantine")}
    shown = {path.read_text(encoding="utf-8").strip() for path in TESTS.rglob("quarantine.txt")}
    for path in TESTS.rglob("rejects.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            shown |= {row["reason"] for row in csv.DictReader(file) if row.get("reason")}
    assert shown - reasons == set()
