"""Every SQL model gives its cases: tests/sql/<model>/<case>/{<relation>.csv…, expect.csv}.

Inputs are the relations that the model reads (lake tables or models), columns by name; a lake table that is not given
is empty; knowledge tables and parameters are the shipped ones unless given. Lists are joined by `;`, an empty field is
null. expect.csv names the columns compared; rows are compared in sorted order.
"""

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from bathtub import knowledge
from bathtub.config import Config
from bathtub.nightly import parameters
from bathtub.schema import tables
from bathtub.warehouse import build, connect, steps
from tests.cases import TESTS, folders, name, read_table, text


@cache
def shapes() -> dict[str, dict[str, pl.DataType]]:
    """Column names and types of every model, from a build over an empty lake."""
    given_alone = parameters(Config())
    with connect() as con:
        names = build(con, {**knowledge.tables(), "parameters": given_alone})
        return {name: dict(con.table(name).pl().schema) for name in names} | {"parameters": dict(given_alone.schema)}


def given(path: Path) -> pl.DataFrame:
    """A relation of a case in the types of its declaration or of its model; columns that it leaves out are null."""
    if path.stem in knowledge.tables():
        return pl.read_csv(path, infer_schema=False)
    declared = tables().get(path.stem)
    shape = shapes()[path.stem] if declared is None else {**declared.polars, "event_day": pl.Date()}
    header, rows = read_table(path)
    values = {column: [row[index] or None for row in rows] for index, column in enumerate(header)}
    return pl.DataFrame([typed(values.get(column, [None] * len(rows)), column, kind) for column, kind in shape.items()])


def typed(values: list[str | None], column: str, kind: pl.DataType) -> pl.Series:
    """Texts of an input CSV as a column of a declared type; lists are joined by `;`."""
    plain = pl.Series(column, values, dtype=pl.String)
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Datetime):
        return plain.str.split(";").list.eval(pl.element().str.to_datetime(time_unit="us", time_zone="UTC"))
    if isinstance(kind, pl.List):
        return plain.str.split(";").cast(kind)
    if isinstance(kind, pl.Datetime):
        return plain.str.to_datetime(time_unit="us", time_zone="UTC")
    if isinstance(kind, pl.Boolean):
        return plain == "true"
    return plain.str.to_date() if isinstance(kind, pl.Date) else plain.cast(kind)


@pytest.mark.parametrize("case", folders("sql"), ids=name)
def test_a_case_gives_its_rows(case: Path) -> None:
    model = case.parent.name
    relations = {**knowledge.tables(), "parameters": parameters(Config())}
    relations |= {path.stem: given(path) for path in case.glob("*.csv") if path.stem != "expect"}
    header, expected = read_table(case / "expect.csv")
    with connect() as con:
        build(con, relations, [model])
        found = con.table(model).pl()
    assert sorted([text(value) for value in row] for row in found.select(header).iter_rows()) == sorted(expected)


def test_every_case_is_of_a_model() -> None:
    assert {folder.name for folder in (TESTS / "sql").iterdir() if folder.is_dir()} <= set(steps())
