"""Sizes of modules and functions, and who imports whom: `python -m tests.layout` prints the medians."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[1] / "pipeline" / "bathtub"

# Imports go from a row to the rows above it only (DESIGN, flow): files, lake, SQL, models, reports, orchestration, commands.
ORDER = (
    ("assets", "schema", "source"),
    ("config", "spool"),
    ("ingest", "simulate", "knowledge", "graph"),
    ("lake", "warehouse", "survival", "checks"),
    ("intake", "fit", "planning"),
    ("reports", "demo"),
    ("publish",),
    ("nightly",),
    ("adhoc", "explain", "hang", "hang_dumps", "hang_logs"),
    ("showcase",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """The first name below the package that a module belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and length of each function, docstring left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
            doc = (first.end_lineno or 0) - first.lineno + 1 if has_doc else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - doc


def imports(path: Path) -> Iterator[str]:
    """The parts of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "bathtub":
            names = [f"bathtub.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("bathtub.") and "__" not in name)


def report() -> str:
    """Medians and 90th percentiles of the lengths."""
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in modules()]
    lengths = [length for path in modules() for _, length in functions(path)]
    return "\n".join(_told(name, values) for name, values in (("modules", lines), ("functions", lengths)))


def _told(name: str, values: list[int]) -> str:
    tenth = quantiles(values, n=10)[-1]
    return f"{name}: {len(values)}, median {median(values):g} lines, 90 % within {tenth:g}, longest {max(values)}"


if __name__ == "__main__":
    print(report())
