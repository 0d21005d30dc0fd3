"""What every SQL file promises: its header, its layer, its size, and that one row is what the header says it is."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import Phase, settings
from hypothesis import given as over

from bathtub import knowledge
from bathtub.assets import sql_dir
from bathtub.schema import tables
from bathtub.warehouse import LAYERS, checks, connect, marts, references, steps
from tests import frames

GRAIN = re.compile(r"^-- grain: one row(?: per (?P<keys>[a-z_0-9]+(?:, [a-z_0-9]+)*)(?: that .+)?)?$", re.MULTILINE)
SENTENCE = re.compile(r"\A-- [A-Z].+?[.!?]\n(?!-- (?!grain))", re.DOTALL)
FILES = sorted(sql_dir().glob("*/*.sql"))
MODELS = [path for path in FILES if path.parent.name in LAYERS]
PACKAGE = Path(__file__).parents[1] / "pipeline" / "bathtub"
READERS = sorted([*(PACKAGE / "reports").glob("*.py"), *(PACKAGE / "survival").glob("*.py"), PACKAGE / "fit.py"])
PREFIX = {"staging": "stg_", "intermediate": "int_", "marts": ""}


def stem(path: Path) -> str:
    return path.stem


def keys(path: Path) -> list[str]:
    """The columns that the header names; none where the relation is one row."""
    found = GRAIN.search(path.read_text())
    assert found, f"{path.name}: no line `-- grain: one row per a, b[ that ...]` or `-- grain: one row`"
    return found["keys"].split(", ") if found["keys"] else []


def doubled(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The relations with more rows than the header allows."""
    for path in MODELS:
        found = con.table(path.stem).pl()
        named = keys(path)
        if named and found.select(named).is_duplicated().any():
            yield f"{path.stem}: {found.filter(found.select(named).is_duplicated()).head(4).to_dicts()}"
        if not named and found.height != 1:
            yield f"{path.stem}: {found.height} rows"


def broken(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The promises of sql/checks that do not hold."""
    for name, sql in checks().items():
        if rows := con.execute(sql).fetchall():
            yield f"{name}: {rows[:4]}"


@pytest.fixture(scope="module")
def demo() -> Iterator[duckdb.DuckDBPyConnection]:
    with frames.warehouse(frames.demo()) as con:
        yield con


@settings(max_examples=30, phases=(Phase.explicit, Phase.generate))  # to shrink a lake takes minutes; the message names the rows
@over(frames.lakes())
def test_any_valid_lake_gives_one_row_of_each_grain_and_keeps_the_promises(lake: Mapping[str, pl.DataFrame]) -> None:
    with frames.warehouse(lake) as con:
        assert [*doubled(con), *broken(con)] == []


def test_the_simulated_cluster_gives_one_row_of_each_grain(demo: duckdb.DuckDBPyConnection) -> None:
    assert list(doubled(demo)) == []


def test_the_simulated_cluster_keeps_the_promises(demo: duckdb.DuckDBPyConnection) -> None:
    assert list(broken(demo)) == []


def test_an_empty_lake_has_every_relation_and_keeps_the_promises() -> None:
    with frames.warehouse({}) as con:
        assert [*doubled(con), *broken(con)] == []


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_a_file_is_short_and_starts_with_a_sentence(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 100
    assert SENTENCE.match(text)
    assert "\t" not in text
    assert path.parent.name == "checks" or path.stem.startswith(PREFIX[path.parent.name])


@pytest.mark.parametrize("path", MODELS, ids=stem)
def test_a_model_names_columns_that_it_has(path: Path, demo: duckdb.DuckDBPyConnection) -> None:
    assert set(keys(path)) <= set(demo.table(path.stem).columns)


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_staging_alone_reads_the_lake_and_the_knowledge(path: Path) -> None:
    with connect() as con:
        read = references(con, path.read_text())
    raw = set(tables()) | set(knowledge.tables())
    layer = path.parent.name
    if layer == "staging":
        assert read <= raw | {"parameters"} | {name for name in steps() if name.startswith("stg_")}
        return
    allowed = {"intermediate": ("stg_", "int_"), "marts": ("stg_", "int_"), "checks": ("stg_", "int_")}[layer]
    others = {name for name in read if not name.startswith(allowed)}
    assert others <= {"parameters", *marts()} - (set(marts()) if layer == "intermediate" else set())


@pytest.mark.parametrize("path", READERS, ids=stem)
def test_marts_alone_feed_reports_and_models(path: Path) -> None:
    words = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    assert not words & (set(steps()) - set(marts()))
