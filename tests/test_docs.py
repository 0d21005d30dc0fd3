"""What the documents list is what there is: generated parts are current, links lead somewhere, commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bathtub.config import load

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
    from bathtub.cli import app

    named = {line.split()[1] for block in blocks(README) for line in block.splitlines() if line.startswith("bathtub ")}
    assert named
    assert named - {"COMMAND"} <= set(app)


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
