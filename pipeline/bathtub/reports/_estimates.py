"""What reports of estimates share: the columns that every row has, and rates of cells with exact limits."""

from collections.abc import Mapping, Sequence

import polars as pl

from bathtub.reports import Context
from bathtub.survival import RESULT, models

NUMBERS = (
    ("quantity", "what is estimated, with its unit"),
    ("estimate", "null where the reason says why"),
    ("low", "lower limit"),
    ("high", "upper limit; null where there is none"),
    ("confidence_level", "of the limits"),
    ("method", "of the limits: exact, log, log-log, profile, bootstrap"),
    ("events", "failures that it rests on"),
    ("exposure_h", "device-hours that it rests on"),
    ("min_detectable_ratio", "smallest ratio found with 80 % power at 5 % two-sided: read it beside every 'none found'"),
    ("assumptions", "what it assumes"),
    ("reason", "why the estimate is absent: a stable word"),
)
"""The result columns of every model, in its order."""
RUN = (
    ("window_start_at", "start of the window, UTC"),
    ("window_end_at", "end of the window, UTC, exclusive"),
    ("burst_gap_s", "gap that ends a burst of lines"),
    ("knowledge_version", "hash of the knowledge tables in force"),
)
"""The columns that say which run a row is of."""


def stamped(rows: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The rows with the columns of RUN."""
    return rows.with_columns(pl.lit(getattr(context, name)).alias(name) for name, _ in RUN)


def joined(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several models as one frame: a column that a model has not is null; none is an empty frame."""
    return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()


def rates(cells: pl.DataFrame, keys: Sequence[str], level: float) -> pl.DataFrame:
    """MTBF of cells of the mart `reliability_cells` in their order: `keys`, result columns, lower_bound.

    Where no source of the window could show the component there is no figure: reason no_source_read.
    """
    from bathtub.survival.mtbf import mtbf

    seen = pl.when("is_readable").then("exposure_h").alias("exposure_h")
    found = mtbf(cells.select(*keys, "failures", seen), level=level)
    reason = pl.when(~cells["is_readable"]).then(pl.lit("no_source_read")).otherwise("reason").alias("reason")
    return found.with_columns(reason, exposure_h=cells["exposure_h"])


def fitted(name: str, table: pl.DataFrame, level: float, told: Mapping[str, object], **options: object) -> list[pl.DataFrame]:
    """The rows of a model with the columns `told` and `model`; none where there is no such model.

    What the model will not read is one row of reason table_refused, its complaint under assumptions: one table that a
    model cannot take does not cost a night's reports.
    """
    if name not in models():
        return []
    try:
        rows = models()[name].fit(table, level=level, **options)
    except (TypeError, ValueError) as refused:
        row = {"confidence_level": level, "assumptions": str(refused), "reason": "table_refused"}
        rows = pl.DataFrame([row], schema={column: dtype for column, dtype in RESULT.items() if column in row})
    return [rows.with_columns(pl.lit(value).alias(column) for column, value in {**told, "model": name}.items())]


def of_cause(lives: pl.DataFrame, cause: str) -> pl.DataFrame:
    """Lives in which failures of this cause alone are events; those of others only cut them."""
    return lives.with_columns(event=pl.col("event") & (pl.col("cause") == cause).fill_null(value=False))


def last_told(rows: pl.DataFrame) -> pl.DataFrame:
    """Of rows along the hours (time_h, here at_h) those with an estimate, and the row of a refused group or table."""
    if "time_h" not in rows.columns:
        return rows
    return rows.filter(pl.col("estimate").is_not_null() | pl.col("time_h").is_null()).rename({"time_h": "at_h"})
