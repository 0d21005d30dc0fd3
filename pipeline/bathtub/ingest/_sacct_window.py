"""Exports of `sacct -T`, which sets a Start before the window to its start, and an End behind it, or none, to its end.

Slurm does not say that it did so. The signs, looked for among the first rows of a file:

- an open record (PENDING, RUNNING, SUSPENDED) with an End: it has none unless it was clipped;
- several jobs begin in the earliest second that there is, at a whole minute, though they were submitted in different
  hours. An array, a sweep, or the jobs that waited for the end of a maintenance begin in one second too, but were
  submitted together, or begin at any second. Beside the first sign two jobs are enough, and any second.

A true start lies before a clipped one, and a true end behind it: the run time is a lower bound.
"""

from dataclasses import dataclass
from datetime import datetime

import polars as pl

OPEN = ("PENDING", "RUNNING", "SUSPENDED")
MIN_HOURS = 3
MIN_JOBS = 2


@dataclass
class Window:
    """What `-T` clipped the times of one file to; null until its first jobs were looked at, and where nothing says so."""

    is_judged: bool = False
    start_at: datetime | None = None
    end_at: datetime | None = None

    def look(self, rows: pl.DataFrame) -> None:
        """Learns it from the first rows that are jobs."""
        jobs = rows.filter(pl.col("step").is_null())
        if self.is_judged or jobs.is_empty():
            return
        self.is_judged = True
        ends = jobs.filter("is_clipped")["ended_at"].unique()
        self.end_at = ends[0] if len(ends) == 1 else None
        first = jobs.filter(pl.col("state") != "PENDING")
        first = first.filter(pl.col("started_at") == pl.col("started_at").min()).unique("base_job_id")
        waited = first.filter(pl.col("submitted_at") < pl.col("started_at"))["submitted_at"]
        is_minute = len(first) > 0 and first["started_at"][0].second == 0
        n_hours = waited.dt.truncate("1h").n_unique()
        if (len(ends) and len(first) >= MIN_JOBS) or (is_minute and n_hours >= MIN_HOURS):
            self.start_at = first["started_at"][0]

    def clips(self) -> pl.Expr:
        """Whether a row's Start or End is that of the window."""
        named = (("started_at", self.start_at), ("ended_at", self.end_at))
        return pl.any_horizontal(pl.col(column) == at for column, at in named if at is not None)


def with_clipping(rows: pl.DataFrame, window: Window | None) -> pl.DataFrame:
    """The rows with `is_clipped`; an open record has no End, and no Start while it waits."""
    is_open = pl.col("state").is_in(OPEN).fill_null(value=False) & pl.col("ended_at").is_not_null()
    rows = rows.with_columns(is_clipped=is_open)
    if window is None:
        return rows
    window.look(rows)
    if rows["is_clipped"].any():
        is_open, waits = pl.col("is_clipped"), pl.col("is_clipped") & (pl.col("state") == "PENDING")
        rows = rows.with_columns(
            ended_at=pl.when(~is_open).then("ended_at"),
            started_at=pl.when(~waits).then("started_at"),
        )
    if window.start_at is None and window.end_at is None:
        return rows
    return rows.with_columns(is_clipped=pl.col("is_clipped") | window.clips().fill_null(value=False))
