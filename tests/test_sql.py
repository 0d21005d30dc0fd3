"""Every SQL model gives its cases: tests/sql/<model>/<case>/{<relation>.csv…, expect.csv}.

Inputs are the relations that the model reads (lake tables or models), columns by name; a lake table that is not given
is empty; knowledge tables and parameters are the shipped ones unless given. Columns of models are read by their looks,
but for TEXTS and LISTS. expect.csv names the columns compared; rows are compared in sorted order.
"""

from pathlib import Path

import polars as pl
import pytest

from bathtub import knowledge
from bathtub.config import Config
from bathtub.nightly import parameters
from bathtub.schema import tables
from bathtub.warehouse import build, connect, steps
from tests.cases import TESTS, folders, name, read_table, text

TEXTS = ("code", "detail", "device", "device_serial", "job_id", "job_id_raw", "boot_id", "node", "source_id")
LISTS = {"refs": pl.String(), "nodes": pl.String(), "alternatives": pl.String(), "evidence": pl.String(), "culprits": pl.Int64()}
LISTS["registers"] = pl.Int64()

LATER = {
    "int_bursts": {
        **dict.fromkeys(("sxid", "link", "subcode"), pl.Int64()),
        **dict.fromkeys(("line_severity", "unit"), pl.String()),
        "registers": pl.List(pl.Int64()),
    }
}
"""Columns of models that a case may leave out: they are null then."""


def given(path: Path) -> pl.DataFrame:
    """A relation of a case: a lake table's types are the declared ones, other columns are read by their looks."""
    header, rows = read_table(path)
    declared = tables().get(path.stem)
    if path.stem in knowledge.tables():
        return pl.read_csv(path, infer_schema=False)
    if declared is None:
        texts = {column: pl.String() for column in header if column in TEXTS or column in LISTS}
        found = pl.read_csv(path, try_parse_dates=True, null_values=[""], infer_schema_length=None, schema_overrides=texts)
        lists = {column: pl.col(column).str.split(";").cast(pl.List(kind)) for column, kind in LISTS.items() if column in header}
        times = [column for column in header if column.endswith("_at")]  # a column without a value looks like text
        later = {column: kind for column, kind in LATER.get(path.stem, {}).items() if column not in header}
        found = found.with_columns(pl.lit(None, kind).alias(column) for column, kind in later.items())
        return found.with_columns(pl.col(times).cast(pl.Datetime("us", "UTC")), **lists)
    values = {column: [row[index] or None for row in rows] for index, column in enumerate(header)}
    columns = [typed(values.get(column, [None] * len(rows)), column, kind) for column, kind in declared.polars.items()]
    return pl.DataFrame(columns).with_columns(event_day=pl.lit(None, pl.Date))


def typed(values: list[str | None], column: str, kind: pl.DataType) -> pl.Series:
    """Texts of an input CSV as a column of a declared type; lists are joined by `;`."""
    plain = pl.Series(column, values, dtype=pl.String)
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
