"""Notebooks read marts and plot: they define nothing, store no outputs, and take their lake as a parameter."""

import ast
from pathlib import Path

import jupytext
import pytest

from tests.run_notebooks import NOTEBOOKS

FOUND = sorted(path for path in NOTEBOOKS.rglob("*") if path.suffix in {".py", ".ipynb"})
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
MAX_LINES = 100


def test_there_is_a_notebook() -> None:
    assert FOUND


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_a_notebook_stores_no_outputs(path: Path) -> None:
    cells = jupytext.read(path).cells
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_a_notebook_defines_nothing(path: Path) -> None:
    code = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    assert not [node for source in code for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITIONS)]
    assert sum(len(source.splitlines()) for source in code) <= MAX_LINES


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_the_first_code_cell_holds_the_parameters(path: Path) -> None:
    first = next(cell for cell in jupytext.read(path).cells if cell.cell_type == "code")
    assert first.metadata["tags"] == ["parameters"]
    assert "lake" in {node.id for node in ast.walk(ast.parse(first.source)) if isinstance(node, ast.Name)}
