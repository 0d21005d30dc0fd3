"""CSV hygiene: what a spreadsheet, a vendor's loader and a diff can rely on."""

import csv
import io
from datetime import UTC, date, datetime

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from bathtub.reports import dictionary, reports
from bathtub.reports._csv import write


def cells(frame: pl.DataFrame) -> list[str]:
    return next(csv.reader(io.StringIO(write("x.csv", frame, frame.columns).content.decode().split("\n", 1)[1])))


def test_values_have_one_spelling() -> None:
    frame = pl.DataFrame({
        "serial": ["0001234"], "at": [datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=UTC)], "day": [date(2026, 1, 2)],
        "x": [1 / 3], "big": [1234567890.0], "nan": [float("nan")], "yes": [True], "none": pl.Series([None], dtype=pl.String),
        "list": [["a", "b"]],
    })  # fmt: skip
    assert cells(frame) == [
        "0001234",
        "2026-01-02T03:04:05.600000Z",
        "2026-01-02",
        "0.333333",
        "1.23457e+09",
        "",
        "true",
        "",
        "a;b",
    ]


def test_null_and_empty_text_differ() -> None:
    assert write("x.csv", pl.DataFrame({"a": ["", None]}), ["a"]).content == b'a\n""\n\n'


def test_formulas_are_guarded_and_counted_and_numbers_are_not() -> None:
    frame = pl.DataFrame({"a": ["=1+1", "+cmd", "-2", "-2.5e3", "@x", "\tx", "-x"]})
    report = write("x.csv", frame, ["a"])
    assert [row[0] for row in csv.reader(io.StringIO(report.content.decode()))][1:] == [
        "'=1+1",
        "'+cmd",
        "-2",
        "-2.5e3",
        "'@x",
        "'\tx",
        "'-x",
    ]
    assert report.n_guarded == 5


def test_a_report_without_rows_has_its_header() -> None:
    assert write("x.csv", pl.DataFrame({"a": []}), ["a", "b"]).content == b"a,b\n"


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12), min_size=1, max_size=4)
)
def test_text_comes_back_as_it_was_but_for_the_guard(values: list[str]) -> None:
    frame = pl.DataFrame({"a": values, "b": ["x"] * len(values)})
    read = list(csv.reader(io.StringIO(write("x.csv", frame, ["a", "b"]).content.decode(), newline="")))[1:]
    assert [row[0].removeprefix("'") for row in read] == [value.removeprefix("'") for value in values]


def test_every_column_of_every_report_is_in_the_dictionary_once() -> None:
    named = [(row[0], row[2]) for row in csv.reader(io.StringIO(dictionary().content.decode()))][1:]
    assert named == [(f"{each.name}.csv", name) for each in reports().values() for name, _ in each.columns]
    assert len(set(named)) == len(named)
