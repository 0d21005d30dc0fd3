"""The two tables that models read, from CSV, Parquet or a frame, refused with column, row and remedy.

cells: failures (a count), exposure_h (device-hours; device_hours is the same), every other column a label of the cell.
lifetimes: unit, entry_h, exit_h (hours of age, half-open (entry, exit]), event (failed at exit_h), cause (null while
unknown or not failed), every other column a label of the unit.
"""

from pathlib import Path
from typing import Literal

import polars as pl

Reads = Literal["cells", "lifetimes"]

NUMBERS: dict[Reads, tuple[str, ...]] = {"cells": ("failures", "exposure_h"), "lifetimes": ("entry_h", "exit_h")}
NEEDED: dict[Reads, tuple[str, ...]] = {"cells": NUMBERS["cells"], "lifetimes": ("unit", "entry_h", "exit_h", "event")}
MOST_FAILURES, SHORTEST_H, LONGEST_H = 1e9, 1e-9, 1e12  # of a cell; outside these another unit was given
EVENT = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


def read_table(path: Path, reads: Reads) -> pl.DataFrame:
    """The checked table of a .csv or .parquet file; labels of a CSV stay text, so that leading zeros stay.

    Raises FileNotFoundError, or ValueError for another kind of file, an unreadable one, and what `check` refuses.
    """
    path = Path(path)
    if path.suffix not in (".csv", ".parquet"):
        message = f"{path.name}: give a .csv or a .parquet file"
        raise ValueError(message)
    try:
        frame = pl.read_csv(path, infer_schema=False) if path.suffix == ".csv" else pl.read_parquet(path)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        message = f"{path.name} is no readable {path.suffix[1:]} file: {error}"
        raise ValueError(message) from error
    return check(frame, reads)


def check(frame: pl.DataFrame, reads: Reads) -> pl.DataFrame:
    """The frame with its numbers as float64 and `event` as boolean; rows and other columns as they were.

    Raises ValueError for a missing column, a value that is no number, NaN, infinity, a negative number, a count that is not
    whole, numbers of another unit, exit_h <= entry_h. Rows are counted from 1 below the header. In cells a null count or
    exposure passes (not measured: the model refuses that row); in lifetimes nothing but `cause` and labels may be null.
    """
    if reads == "cells" and "exposure_h" not in frame.columns:
        frame = frame.rename({"device_hours": "exposure_h"}, strict=False)
    for column in NEEDED[reads]:
        if column not in frame.columns:
            message = f"column {column!r} is missing: {reads} need {', '.join(NEEDED[reads])}; found {', '.join(frame.columns)}"
            raise ValueError(message)
    frame = frame.with_columns(_numbers(frame[column]) for column in NUMBERS[reads])
    if reads == "cells":
        _refuse(frame, "failures", pl.col("failures") != pl.col("failures").floor(), "failures are counted in whole numbers")
        _refuse(frame, "failures", pl.col("failures") > MOST_FAILURES, f"give a count of at most {MOST_FAILURES:g}")
        hours, given = pl.col("exposure_h"), f"give device-hours, 0 or from {SHORTEST_H:g} to {LONGEST_H:g}"
        _refuse(frame, "exposure_h", (hours != 0) & ~hours.is_between(SHORTEST_H, LONGEST_H), given)
        return frame
    frame = frame.with_columns(_booleans(frame["event"]))
    for column in NEEDED[reads]:
        _refuse(frame, column, pl.col(column).is_null(), "fill it in; an open interval ends where observation ends")
    _refuse(
        frame, "exit_h", pl.col("exit_h") <= pl.col("entry_h"), "exit_h must be later than entry_h: drop or mend the interval"
    )
    return frame


def _refuse(frame: pl.DataFrame, column: str, wrong: pl.Expr, remedy: str) -> None:
    """Raises ValueError with column, value and row of the first row where `wrong` is true."""
    rows = frame.select(wrong.fill_null(value=False).arg_true()).to_series()
    if len(rows):
        message = f"column {column!r}, row {rows[0] + 1}: {frame[column][rows[0]]!r}; {remedy}"
        raise ValueError(message)


def _numbers(values: pl.Series) -> pl.Series:
    """The values as float64, all null, or finite and at least 0. Raises ValueError for anything else."""
    found, name = values.cast(pl.Float64, strict=False), values.name
    frame = pl.DataFrame([values, found.alias("number")])
    number = pl.col("number")
    _refuse(frame, name, number.is_null() & pl.col(name).is_not_null(), "give a number")
    _refuse(frame, name, ~number.is_finite(), "give a finite number, or leave it empty where it was not measured")
    _refuse(frame, name, number < 0, "a negative number has no meaning here")
    return found


def _booleans(values: pl.Series) -> pl.Series:
    """The values as booleans; 0, 1, true and false are understood. Raises ValueError for anything else."""
    if values.dtype == pl.Boolean():
        return values
    found = values.cast(pl.String).str.to_lowercase().replace_strict(EVENT, default=None, return_dtype=pl.Boolean)
    frame = pl.DataFrame([values, found.alias("found")])
    _refuse(
        frame, values.name, pl.col("found").is_null() & pl.col(values.name).is_not_null(), "give 1 (failed) or 0 (still alive)"
    )
    return found
