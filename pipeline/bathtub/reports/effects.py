"""effects.csv: does the rate change with the hour of the day, or with heat; and what effect could have been found.

Asked for each component that failed. Civil hours follow people and load, solar hours the heat of the day; heat is that of
the GPU itself in the hour before. Failures and hours of unknown heat are left out, and counted.
"""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, fitted, joined, stamped

_GROUP = ("population", "component", "exposure_kind")
_COLUMNS = (
    ("population", "cluster"),
    ("component", "part that failed"),
    ("exposure_kind", "in_service, allocated, observed"),
    ("model", "diurnal, thermal"),
    ("clock", "civil, solar: of the hours of the model diurnal"),
    *NUMBERS,
    ("term", "temperature, or the margin to its limit: of the model thermal"),
    ("effect", "found, rising, falling, none found; null where the reason says why"),
    ("p_value", "of no effect"),
    ("min_detectable_amplitude", "smallest amplitude on the log scale found with 80 % power at 5 %"),
    ("min_detectable_slope", "smallest slope of the log rate per degree found with 80 % power at 5 % two-sided"),
    ("peak_hour", "hour of the peak; null where no amplitude was found"),
    ("theta", "size of the negative binomial that limits rest on; null: the cells are not spread wider than Poisson"),
    ("overdispersion_p", "of no wider spread"),
    ("failures_of_unknown_heat", "failures left out of the model thermal"),
    ("exposure_h_of_unknown_heat", "device-hours left out of the model thermal"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    parts = [*_diurnal(marts["cells_hours"], context.level), *_thermal(marts["cells_heat"], context.level)]
    return stamped(joined(parts), context)


def _diurnal(cells: pl.DataFrame, level: float) -> list[pl.DataFrame]:
    """Rows of each component that failed, by each clock."""
    keys, parts = [*_GROUP, "clock"], list[pl.DataFrame]()
    for key, group in cells.filter("is_readable").group_by(keys, maintain_order=True):
        if group["failures"].sum():
            table = group.select("hour", "is_weekend", "failures", "exposure_h")
            parts += fitted("diurnal", table, level, dict(zip(keys, key, strict=True)))
    return parts


def _thermal(cells: pl.DataFrame, level: float) -> list[pl.DataFrame]:
    """Rows of each component that failed, where the heat of some device-hours is known."""
    parts = list[pl.DataFrame]()
    for key, group in cells.filter("is_readable").group_by(_GROUP, maintain_order=True):
        known, unknown = group.filter(pl.col("temperature_c").is_not_null()), group.filter(pl.col("temperature_c").is_null())
        if known.height and group["failures"].sum():
            left_out = {
                "failures_of_unknown_heat": unknown["failures"].sum(),
                "exposure_h_of_unknown_heat": unknown["exposure_h"].sum(),
            }
            table = known.select("temperature_c", "vendor", pl.col("civil_hour").alias("hour"), "failures", "exposure_h")
            parts += fitted("thermal", table, level, {**dict(zip(_GROUP, key, strict=True)), **left_out})
    return parts


REPORT = ReportModel("effects", ("cells_hours", "cells_heat"), _COLUMNS, _rows)
