"""The times of `sacct` records: read in UTC, the repeated hour settled by run time and order, foreign forms refused."""

from collections.abc import Mapping
from datetime import datetime

import polars as pl

from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._times import TOLERANCE
from bathtub.source import Quarantine, Source

TIMES = {"Submit": "submitted_at", "Start": "started_at", "End": "ended_at"}
FOREIGN_SHARE = 0.5


def refuse_foreign_times(cells: pl.DataFrame, source: Source) -> None:
    """Raises Quarantine where most times of the cells have a form that nobody told us about."""
    texts = pl.concat([cells[name].alias("text") for name in TIMES]).drop_nulls()
    texts = texts.filter(~texts.is_in(slurm.NO_TIME) & ~texts.str.contains("^#+$"))
    bad = texts.filter(slurm.instants(texts, source)["is_bad"])
    if len(bad) > FOREIGN_SHARE * len(texts):
        detail = (
            f"times such as {bad[0][:40]!r} come of a SLURM_TIME_FORMAT: export again with SLURM_TIME_FORMAT=%s or without it"
        )
        raise Quarantine("unknown_time_format", detail)


def with_times(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """The three times in UTC, `is_bad_<time>` and `is_ambiguous_<time>`; the repeated hour settled where it can be."""
    read = {column: slurm.instants(frame[name], source) for name, column in TIMES.items()}
    for column, readings in read.items():
        frame = frame.with_columns(
            readings["first"].alias(column),
            readings["last"].alias(f"last_{column}"),
            readings["is_bad"].alias(f"is_bad_{column}"),
            (readings["first"] != readings["last"]).fill_null(value=False).alias(f"is_ambiguous_{column}"),
        )
    is_doubtful = pl.any_horizontal(f"is_ambiguous_{column}" for column in TIMES.values())
    if not frame.select(is_doubtful.any()).item():
        return frame
    doubtful = frame.with_row_index("row").filter(is_doubtful)
    settled = pl.DataFrame(
        [_settled(row) for row in doubtful.iter_rows(named=True)],
        schema={"row": pl.UInt32, **{name: frame.schema[name] for column in read for name in (column, f"is_ambiguous_{column}")}},
        orient="row",
    )
    return frame.with_row_index("row").update(settled, on="row").drop("row")


def _settled(row: Mapping[str, object]) -> dict[str, object]:
    """The readings of one row's times that its run time and their order leave, the first where several are left."""
    elapsed, suspended = row["elapsed_s"], row["suspended_s"]
    run_s = elapsed + (suspended if isinstance(suspended, int) else 0) if isinstance(elapsed, int) else None
    submits, starts, ends = ({_time(row[column]), _time(row[f"last_{column}"])} for column in TIMES.values())
    found: dict[str, object] = {"row": row["row"]}
    for column, left in zip(TIMES.values(), slurm.settle((submits, starts, ends), run_s), strict=True):
        found[column] = min((at for at in left if at is not None), default=None)
        found[f"is_ambiguous_{column}"] = len(left) > 1
    return found


def _time(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def quality(source: Source) -> pl.Expr:
    """How far `seen_at` can be trusted."""
    is_ambiguous = (
        pl.when(pl.col("ended_at").is_not_null())
        .then("is_ambiguous_ended_at")
        .when(pl.col("started_at").is_not_null())
        .then("is_ambiguous_started_at")
        .otherwise("is_ambiguous_submitted_at")
    )
    return (
        pl.when(pl.col("seen_at").is_null())
        .then(pl.lit("unknown"))
        .when(pl.col("seen_at") > source.collected_at + TOLERANCE)
        .then(pl.lit("future"))
        .when(is_ambiguous)
        .then(pl.lit("ambiguous"))
        .otherwise(pl.lit("exact"))
    )
