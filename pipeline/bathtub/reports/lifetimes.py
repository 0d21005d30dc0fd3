"""lifetimes.csv: models of the devices' ages per component, with the phase of the bathtub curve in words.

Each device counts from its age at entry to its first failure of the component; failures of other components only cut
its life. Devices of unknown age are left out, and counted. Of causes that compete, `competing-risks` gives the share of
devices that failed first of each, at the last age at which it can be told; a removed device counts as one that would not
have failed (`estimate`) or would have at once (`if_pulled_failed`).
"""

from collections.abc import Iterator, Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, fitted, joined, last_told, of_cause, stamped

PER_COMPONENT: Mapping[str, Mapping[str, object]] = {
    "weibull": {"failures": "first"},
    "lognormal": {"failures": "first"},
    "piecewise": {},
}
"""Models of one component's failures by age, with the options that they are asked with."""
_GROUP = ("population", "exposure_class", "exposure_kind")
_COLUMNS = (
    ("population", "cluster"),
    ("component", "part that failed"),
    ("exposure_kind", "in_service, observed: unobserved time is no life"),
    ("model", "model"),
    ("term", "covariate; null for the model's own parameters"),
    ("at_h", "age, hours, at which a share stands; null where the quantity has none"),
    *NUMBERS,
    ("phase", "infant mortality, useful life, wear-out, undetermined: from the limits of the Weibull shape"),
    ("standard_error", "of the logarithm of the estimate; of the share itself for competing risks"),
    ("aic", "of the model"),
    ("aic_exponential", "of the exponential on the same rows"),
    ("aic_weibull", "of the Weibull"),
    ("aic_lognormal", "of the lognormal"),
    ("aic_log_logistic", "of the log-logistic"),
    ("best_by_aic", "family with the smallest AIC"),
    ("if_pulled_failed", "share if every removed device would have failed of this cause at once"),
    ("n_units", "devices of known age"),
    ("n_units_of_unknown_age", "devices left out"),
    ("failures_without_unit", "failures of the component that name no device: not among the events"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    lives, cells = marts["lifetimes"], marts["reliability_cells"]
    parts = [
        part
        for key, group in lives.group_by(_GROUP, maintain_order=True)
        for part in _group(dict(zip(_GROUP, key, strict=True)), group, cells, context.level)
    ]
    return stamped(joined(parts), context)


def _group(key: Mapping[str, object], group: pl.DataFrame, cells: pl.DataFrame, level: float) -> Iterator[pl.DataFrame]:
    """The rows of each component that such devices are exposed to, then those of all causes."""
    own = [pl.col(name) == value for name, value in key.items()]
    aged = group.filter("age_known")
    units = {"n_units": aged["unit"].n_unique(), "n_units_of_unknown_age": group.filter(~pl.col("age_known"))["unit"].n_unique()}
    front = {**{name: key[name] for name in ("population", "exposure_kind")}, **units}
    used = aged if aged.height else group
    for cell in cells.filter(*own, "is_readable").iter_rows(named=True):
        named = group.filter(pl.col("cause") == cell["component"])["n_failures"].sum()
        told = {**front, "component": cell["component"], "failures_without_unit": cell["failures"] - named}
        lived = of_cause(used, cell["component"])
        for name, options in PER_COMPONENT.items():
            yield from (_doubted(rows) for rows in fitted(name, lived, level, told, **options))
    yield from (_shares(rows) for rows in fitted("competing-risks", _first(used), level, front, pulled="removed"))


def _doubted(rows: pl.DataFrame) -> pl.DataFrame:
    """Where all failures of a component name no device, that no device failed of it is not known."""
    unknown = (pl.col("reason") == "no_failures") & (pl.col("failures_without_unit") != 0)
    limits = [
        pl.when(~unknown).then(name).alias(name) for name in ("low", "high", "min_detectable_ratio") if name in rows.columns
    ]
    return rows.with_columns(*limits, reason=pl.when(unknown).then(pl.lit("failures_without_unit")).otherwise("reason"))


def _first(lives: pl.DataFrame) -> pl.DataFrame:
    """Lives up to the first failure of any cause; a removal is a cause."""
    removed = pl.col("exit_kind") == "removed"
    cause = pl.when(removed).then(pl.lit("removed")).otherwise("cause")
    return lives.filter(pl.col("n_failures_before") == 0).with_columns(event=pl.col("event") | removed, cause=cause)


def _shares(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per cause, at the last age at which its share can be told."""
    told = last_told(rows).rename({"cause": "component"}, strict=False)
    return told.filter(pl.col("component").is_null() | (pl.col("component") != "removed")).unique(
        "component", keep="last", maintain_order=True
    )


REPORT = ReportModel("lifetimes", ("lifetimes", "reliability_cells"), _COLUMNS, _rows)
