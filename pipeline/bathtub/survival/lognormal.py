"""Lognormal lifetimes with late entry, right and interval censoring, and covariates.

log t is normal with mean log(median) and standard deviation log_sd: the hazard rises, then falls. Rows of each group:
median_h, log_sd_ratio, one time_ratio per covariate, survival_ratio at each `at_h`. Limits, columns, options, and reasons
are those of the model `weibull`; `phase` is null, since no one number says where the hazard rises.

Reference: Meeker & Escobar 1998, chapters 8 and 11.
"""

from collections.abc import Sequence

import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._groups import Names, hours, per_group
from bathtub.survival._location_scale import LOGNORMAL
from bathtub.survival._parametric import TAKEN, Law, asked, rows

LAW = Law(LOGNORMAL, "median_h", "log_sd_ratio", 1)


def lognormal(
    lifetimes: pl.DataFrame,
    level: float = 0.95,
    by: Names = (),
    *,
    failures: str = "one",
    covariates: Names = (),
    at_h: Sequence[float] | float = (),
) -> pl.DataFrame:
    """Rows of each group of `by`: by, term, at_h, RESULT, own columns. Raises ValueError as the model `weibull` does."""
    chosen = asked(lifetimes, confidence(level), failures, covariates, hours(at_h, "at_h"))
    return per_group(lifetimes, by, TAKEN, lambda group: rows(group, LAW, chosen))


MODEL = Model("lognormal", "lifetimes", lognormal, "lognormal lifetimes: median and spread, covariates")
