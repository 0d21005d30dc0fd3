"""DuckDB over the lake: runs sql/ in the order that its own references give.

Every relation is a file of sql/ whose stem is its name, a lake table, a knowledge table, or `parameters` (one row).
Steps that are no SQL (the wait-for graph) stand in the same order. No SQL is built from text here.
"""

import graphlib
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl

from bathtub.assets import sql_dir
from bathtub.schema import Table, tables

LAYERS = ("staging", "intermediate", "marts")
BUILT = "select table_name from information_schema.tables where table_catalog = 'memory' and table_schema = 'main'"


@dataclass(frozen=True)
class Step:
    """One relation of the warehouse: the SQL of a file, or a function of the relations that it reads."""

    name: str
    reads: frozenset[str]
    sql: str = ""
    run: Callable[[Mapping[str, pl.DataFrame]], pl.DataFrame] | None = None


def _hang_verdicts(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    from bathtub.graph import hang_verdicts

    return hang_verdicts(frames)


@cache
def steps() -> dict[str, Step]:
    """Every step by name, in an order in which each stands behind what it reads."""
    return _ordered(_files())


@cache
def _files() -> dict[str, Path]:
    """The files of all SQL steps, and nothing for the steps that are no SQL."""
    found = {path.stem: path for layer in LAYERS for path in sorted((sql_dir() / layer).glob("*.sql"))}
    return {"int_hang_verdicts": Path(), **found}


@cache
def _step(name: str) -> Step:
    if name == "int_hang_verdicts":
        from bathtub.graph import READS

        return Step(name, frozenset(READS), run=_hang_verdicts)
    text = _files()[name].read_text(encoding="utf-8")
    return Step(name, references(_parser(), text), sql=text)


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """A connection that parses alone: to open one takes longer than to parse a step."""
    return duckdb.connect(config={"threads": 1})


def _ordered(names: Iterable[str]) -> dict[str, Step]:
    found = {name: _step(name) for name in names}
    order = graphlib.TopologicalSorter({name: step.reads & found.keys() for name, step in found.items()})
    return {name: found[name] for name in order.static_order()}


@cache
def checks() -> dict[str, str]:
    """The SQL of every promise of sql/checks by name; rows returned are violations."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((sql_dir() / "checks").glob("*.sql"))}


def references(con: duckdb.DuckDBPyConnection, sql: str) -> frozenset[str]:
    """The relations that a select reads, from its parse tree; its own common table expressions left out."""
    rows = con.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()
    tree = json.loads(rows[0][0])
    if tree.get("error"):
        message = f"{tree.get('error_message')} in: {sql[:80]}"
        raise ValueError(message)
    names, own = set[str](), set[str]()
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE":
            names.add(str(node["table_name"]))
        if isinstance(ctes := node.get("cte_map"), dict):
            own.update(str(entry["key"]) for entry in ctes.get("map", ()))
    return frozenset(names - own)


def _nodes(tree: object) -> Iterator[dict[str, object]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


@contextmanager
def connect(folders: Iterable[Path] = (), memory: str = "2GB", threads: int = 2) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads the given folders and its own spill folder, and nothing else; closed at the end."""
    with TemporaryDirectory(prefix="bathtub-spill-") as spill, duckdb.connect() as con:
        con.execute("SET TimeZone='UTC'")
        con.execute("SET enable_progress_bar=false")
        con.execute("SET autoinstall_known_extensions=false")
        con.execute("SET autoload_known_extensions=false")
        con.execute("SET memory_limit=?", [memory])
        con.execute("SET threads=?", [threads])
        con.execute("SET temp_directory=?", [spill])
        con.execute("SET allowed_directories=?", [[str(folder.resolve()) for folder in folders] + [spill]])
        con.execute("SET enable_external_access=false")
        con.execute("SET lock_configuration=true")
        yield con


def provide(con: duckdb.DuckDBPyConnection, name: str, content: pl.DataFrame | Sequence[str]) -> None:
    """A relation out of a frame (read where it lies), or out of Parquet files of the lake (read when asked for)."""
    if isinstance(content, pl.DataFrame):
        con.register(name, content.to_arrow(compat_level=pl.CompatLevel.newest()))
        return
    columns = [f'"{column}"' for column in tables()[name].names[:-1]]
    files = con.read_parquet(list(content), hive_partitioning=True)
    files.project(", ".join([*columns, "cast(event_day as date) as event_day"])).create_view(name)


def provide_empty(con: duckdb.DuckDBPyConnection, declared: Table) -> None:
    """An empty lake table, so that every SQL runs when a source is absent."""
    provide(con, declared.name, pl.DataFrame(schema={**declared.polars, "event_day": pl.Date()}))


def build(
    con: duckdb.DuckDBPyConnection,
    inputs: Mapping[str, pl.DataFrame | Sequence[str]],
    targets: Iterable[str] | None = None,
    on_step: Callable[[str], object] = lambda _name: None,
) -> list[str]:
    """Runs the steps that the targets need (all of them by default) over the given relations; returns their names.

    `inputs` are lake tables, knowledge tables, `parameters`, or a step's own relation, which then is not run (so
    that a test can give it). Lake tables that are not given are empty.
    """
    for name, content in inputs.items():
        if isinstance(content, pl.DataFrame) or len(content):
            provide(con, name, content)
    for declared in tables().values():
        content = inputs.get(declared.name, ())
        if not isinstance(content, pl.DataFrame) and not len(content):
            provide_empty(con, declared)
    todo = [step for step in _needed(targets, inputs) if step.name not in inputs]
    for step in todo:
        on_step(step.name)
        if step.run is None:
            relation = con.sql(step.sql)
            assert relation is not None
            relation.create(step.name)
        else:
            provide(con, step.name, step.run({name: con.table(name).pl() for name in step.reads}))
    return [step.name for step in todo]


def rebuild(con: duckdb.DuckDBPyConnection, changed: Mapping[str, pl.DataFrame], target: str) -> pl.DataFrame:
    """A relation as it would be with other parameters or knowledge tables; what was built stays as it is.

    Only steps behind the columns that differ run again, and one that comes out as before moves nothing behind it.
    """
    before = {name: con.table(name).pl() for name in changed}
    con.execute("create schema variant")
    con.execute("use variant")
    try:
        for name, frame in changed.items():
            provide(con, name, frame)
        _run_again(con, dict(before), changed, target, before)
        found: pl.DataFrame = con.table(target).pl()
        return found
    finally:
        con.execute("use main")
        con.execute("drop schema variant cascade")
        for name, frame in before.items():
            provide(con, name, frame)


def _run_again(
    con: duckdb.DuckDBPyConnection,
    old: Mapping[str, pl.DataFrame],
    new: Mapping[str, pl.DataFrame],
    target: str,
    replaced: dict[str, pl.DataFrame],
) -> None:
    """The schema `variant`: the target and what it needs, run again where it may differ. Frames taken over go to `replaced`."""
    differ = {
        name: [column for column in frame.columns if not frame[column].equals(old[name][column])] for name, frame in new.items()
    }
    built = {str(row[0]) for row in con.execute(BUILT).fetchall()}
    moved = set[str]()
    for name in sorted(built - _files().keys()):
        con.table(f"memory.main.{name}").create_view(name)
    for step in _needed([target]):
        if step.reads & moved or any(column in step.sql for name in step.reads & differ.keys() for column in differ[name]):
            if _moves(con, step, replaced):
                moved.add(step.name)
        elif step.name in built:
            con.table(f"memory.main.{step.name}").create_view(step.name)


def _moves(con: duckdb.DuckDBPyConnection, step: Step, replaced: dict[str, pl.DataFrame]) -> bool:
    """Runs a step in the schema `variant`; whether it comes out otherwise than in `main`."""
    if step.run is not None:
        replaced[step.name] = con.table(step.name).pl()
        provide(con, step.name, step.run({name: con.table(name).pl() for name in step.reads}))
        return not con.table(step.name).pl().equals(replaced[step.name])
    con.sql(step.sql).create(step.name)
    here, there = con.table(step.name), con.table(f"memory.main.{step.name}")
    return any(one.except_(other).limit(1).fetchall() for one, other in ((here, there), (there, here)))


def _needed(targets: Iterable[str] | None, given: Container[str] = ()) -> list[Step]:
    """The steps that the targets need; what only a given relation would have needed is left out, and its SQL is not read."""
    if targets is None:
        return list(steps().values())
    wanted: set[str] = set()
    stack = list(targets)
    while stack:
        name = stack.pop()
        if name in _files() and name not in wanted and name not in given:
            wanted.add(name)
            stack.extend(_step(name).reads)
    return list(_ordered(sorted(wanted)).values())


def marts() -> list[str]:
    """The names of the marts, each one CSV or model input."""
    return sorted(path.stem for path in (sql_dir() / "marts").glob("*.sql"))
