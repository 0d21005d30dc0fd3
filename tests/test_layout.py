"""The shape of the code: sizes, the direction of imports, what may be imported for --help, the top level."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layout import ORDER, RANK, functions, imports, modules, part

TOP = Path(__file__).parents[1]
HEAVY = ("polars", "pyarrow", "duckdb", "deltalake", "pandas", "numpy", "scipy", "lifelines", "great_expectations", "matplotlib")


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_a_module_is_short(path: Path) -> None:
    is_format = path.parent.name == "ingest" and not path.stem.startswith("_")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= (150 if is_format else 400)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_a_function_is_short(path: Path) -> None:
    assert [name for name, length in functions(path) if length > 40] == []


def test_every_part_has_its_place() -> None:
    assert {part(path) for path in modules()} - {"__init__"} == {name for names in ORDER for name in names}


@pytest.mark.parametrize("path", [path for path in modules() if part(path) != "__init__"], ids=lambda path: path.stem)
def test_imports_go_one_way(path: Path) -> None:
    own = RANK[part(path)]
    assert [name for name in imports(path) if RANK[name] > own and name != part(path)] == []


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom bathtub import cli\n"
        "try:\n    cli.app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "nightly" in done.stdout
    assert done.stderr.strip() == "[]"


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: the top level cannot be listed")
    names = {name.split("/")[0] for name in listed.stdout.splitlines()}
    allowed = {"pyproject.toml", "README.md", "pipeline", "sql", "notebooks", "data", "tests"}
    beside = {"Makefile", "LICENSE", "requirements.lock", "bench", "docs"}
    assert {name for name in names if not name.startswith(".")} <= allowed | beside
    assert allowed - names == set()


def test_no_unfinished_work_is_marked() -> None:
    marks = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b")
    files = [*modules(), *(TOP / "sql").rglob("*.sql")]
    assert [path.name for path in files if marks.search(path.read_text(encoding="utf-8"))] == []


def test_the_lock_names_no_host() -> None:
    lock = TOP / "requirements.lock"
    if not lock.exists():
        pytest.skip("not a checkout: no lock to look at")
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links", lock.read_text(encoding="utf-8"))
