"""trend.csv: do failures become more or fewer over the window, per component: Laplace's test, power law, failures per device.

Hours are the calendar's, from the window's start; a device that failed goes on. Pooled components hide opposite trends,
so that each stands alone; `all` is their sum. Failures that name no device are not among them.
"""

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, fitted, joined, last_told, of_cause, stamped

KEEPS: Mapping[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "trend": lambda rows: rows,
    "mcf": lambda rows: last_told(rows).tail(1),
}
"""The models, and which of their rows are told: of a curve its end."""
_GROUP = ("population", "exposure_class", "exposure_kind")
_COLUMNS = (
    ("population", "cluster"),
    ("exposure_class", "kind of device whose hours and failures these are"),
    ("exposure_kind", "in_service, observed"),
    ("component", "part that failed; `all`: of such devices"),
    ("model", "trend, mcf"),
    ("at_h", "hours from the window's start at which failures_per_unit stands"),
    *NUMBERS,
    ("trend", "rising, falling, none found: where the limits of the power law's shape exclude 1"),
    ("p_value", "of no trend"),
    ("bias_corrected", "shape, corrected for the bias of few failures"),
    ("power_scale", "scale of the power law"),
    ("truncation", "time: the window ends at a date"),
    ("n_times", "distinct times among the failures"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    lives = marts["lifetimes"].drop("entry_h", "exit_h").rename({"calendar_entry_h": "entry_h", "calendar_exit_h": "exit_h"})
    parts = [
        part.with_columns(pl.lit(value).alias(name) for name, value in zip(_GROUP, key, strict=True))
        for key, group in lives.group_by(_GROUP, maintain_order=True)
        for part in _group(group, context.level)
    ]
    return stamped(joined(parts), context)


def _group(group: pl.DataFrame, level: float) -> Iterator[pl.DataFrame]:
    """Trends and failures per device: of all causes, then of each that failed."""
    causes = group.filter("event")["cause"].drop_nulls().unique().sort()
    for cause in ("all", *(causes if len(causes) > 1 else [])):
        chosen = group if cause == "all" else of_cause(group, cause)
        for name, keep in KEEPS.items():
            yield from (keep(rows).drop("cause", strict=False) for rows in fitted(name, chosen, level, {"component": cause}))


REPORT = ReportModel("trend", ("lifetimes",), _COLUMNS, _rows)
