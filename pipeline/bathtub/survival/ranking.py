"""Failure rates of units, shrunk towards the fleet's: which are worse than the usual spread.

Units differ, so that their counts follow a negative binomial about the expected count E = exposure x rate of the class: rates
relative to it are Gamma of mean m and shape theta, both by maximum likelihood over all units (empirical Bayes). Of a unit
with r failures, with a = theta, b = theta/m, and E/T its expected rate:

| column | formula |
|---|---|
| estimate | E/T (a + r)/(b + E) per hour; rows are sorted by it |
| low, high | E/T G(·; a + r)/(b + E), G the quantile of the Gamma distribution |
| raw_rate_per_h, raw_low, raw_high | r/T with exact limits |
| p_value, q_value | P(X >= r) under the negative binomial, and after Benjamini and Hochberg over all units of the table |
| poisson_p_value, poisson_q_value | the same as if all units of a class were alike |
| is_lemon | q_value at most `false_share`, the share of false ones that is put up with |

The first pair asks whether a unit is beyond the usual spread, which is what a lemon is; the second whether units are all alike.
Without any spread wider than Poisson's there is nothing to rank: reason no_spread, p and q by Poisson.
min_detectable_ratio: (1 + z/2 sqrt(1/E + 1/theta))^2, z = 2.80, of one unit over the fleet.

Refused (reason): no_spread, and by unit no_exposure, exposure_unknown, failures_unknown; no_failures of the whole fleet.

Takes the prior as known, so that with less than some fifty units limits are too narrow. References: Robbins 1956; Clayton &
Kaldor 1987, Biometrics 43: 671; Benjamini & Hochberg 1995.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, arrange, check, confidence, labels
from bathtub.survival._cells import rate_reasons
from bathtub.survival._glm import Cells, negative_binomial, overdispersion_p, poisson
from bathtub.survival._groups import POWER_Z, Names, columns
from bathtub.survival._spread import q_values
from bathtub.survival.mtbf import gamma_quantile, garwood

Floats = npt.NDArray[np.float64]

OWN = {
    "rank": pl.Int64(),
    "raw_rate_per_h": pl.Float64(),
    "raw_low": pl.Float64(),
    "raw_high": pl.Float64(),
    "expected_failures": pl.Float64(),
    "p_value": pl.Float64(),
    "q_value": pl.Float64(),
    "poisson_p_value": pl.Float64(),
    "poisson_q_value": pl.Float64(),
    "is_lemon": pl.Boolean(),
    "theta": pl.Float64(),
    "overdispersion_p": pl.Float64(),
    "n_units": pl.Int64(),
}
ASSUMPTIONS = "independent failures; constant rates; relative rates are Gamma; prior taken as known"


@dataclass(frozen=True)
class Prior:
    """Gamma of relative rates: shape `a`, mean `mean`; `a` is infinite where units do not differ."""

    a: float
    mean: float
    overdispersion_p: float


def ranking(cells: pl.DataFrame, level: float = 0.95, within: Names = (), false_share: float = 0.05) -> pl.DataFrame:
    """One row per unit, the worst first: labels, RESULT (quantity failure_rate_per_h), own columns (see the module).

    `cells`: failures, exposure_h, labels that name the unit. `within`: labels that are classes with rates of their own. Raises
    ValueError for what `check` refuses, columns that are not there, and a share outside (0, 1).
    """
    level, cells = confidence(level), check(cells, "cells")
    if not 0 < false_share < 1:
        message = f"false_share {false_share!r}: give a number between 0 and 1, such as 0.05"
        raise ValueError(message)
    front, classes = labels(cells, tuple(OWN)), columns(cells, within, "within")
    reasons = rate_reasons(cells["failures"], cells["exposure_h"])
    known = np.array([reason is None for reason in reasons], dtype=bool)
    counts, hours = (np.where(known, cells[name].fill_null(0.0).to_numpy(), 0.0) for name in ("failures", "exposure_h"))
    expected = _expected(cells, classes, counts, hours)
    prior = _prior(counts[expected > 0], expected[expected > 0])
    fleet = None if counts.sum() else "no_failures"
    words = [reason or fleet or (None if np.isfinite(prior.a) else "no_spread") for reason in reasons]
    found = {name: np.where(known, values, math.nan) for name, values in _figures(counts, hours, expected, prior, level).items()}
    rows = cells.with_columns(
        quantity=pl.lit("failure_rate_per_h"),
        confidence_level=pl.lit(level),
        method=pl.lit("empirical Bayes"),
        events=pl.col("failures"),
        assumptions=pl.lit(ASSUMPTIONS + (f"; beside {', '.join(classes)}" if classes else "")),
        reason=pl.Series(words, dtype=pl.String),
        theta=pl.lit(prior.a if np.isfinite(prior.a) else None, pl.Float64),
        overdispersion_p=pl.lit(prior.overdispersion_p, pl.Float64),
        n_units=pl.lit(int(known.sum())),
        is_lemon=pl.Series(np.nan_to_num(found["q_value"], nan=1.0) <= false_share, dtype=pl.Boolean),
        **{name: pl.Series(values, dtype=pl.Float64) for name, values in found.items()},
    )
    rows = rows.sort(["estimate", "p_value"], descending=[True, False], nulls_last=True, maintain_order=True)
    ranks = pl.when(pl.col("estimate").is_not_null()).then(pl.col("estimate").rank("min", descending=True))
    return arrange(rows.with_columns(ranks.alias("rank")), front, OWN)


def _expected(cells: pl.DataFrame, classes: list[str], counts: Floats, hours: Floats) -> Floats:
    """Failures that each unit would have at the rate of its class; 0 in a class without any."""
    table = pl.DataFrame({"counts": counts, "hours": hours}).with_columns(cells[name] for name in classes)
    rate = pl.col("counts").sum() / pl.col("hours").sum()
    expected = table.select((pl.col("hours") * (rate.over(classes) if classes else rate)).fill_nan(0.0))
    return expected.to_series().to_numpy()


def _prior(counts: Floats, expected: Floats) -> Prior:
    """The Gamma distribution of relative rates that the counts are likeliest under."""
    if not counts.sum():
        return Prior(math.inf, 1.0, math.nan)
    alike = Cells(np.ones((len(counts), 1)), counts, expected)
    plain = poisson(alike)
    if isinstance(plain, str):
        raise ArithmeticError(plain)  # noqa: TRY004 - a word in place of a fit
    wider = negative_binomial(alike, plain)
    return Prior(wider.theta or math.inf, math.exp(wider.coefficients[0]), overdispersion_p(plain, wider))


def shrunk(counts: Floats, exposure: Floats, a: float, b: float, level: float) -> tuple[Floats, Floats, Floats]:
    """Mean and limits of rates whose prior is Gamma of shape a and rate b: (a + r)/(b + T), G(·; a + r)/(b + T)."""
    tail, shape = (1 - level) / 2, a + counts
    found = shape, gamma_quantile(tail, shape), gamma_quantile(1 - tail, shape)
    mean, low, high = (values / (b + exposure) for values in found)
    return mean, low, high


def _figures(counts: Floats, hours: Floats, expected: Floats, prior: Prior, level: float) -> dict[str, Floats]:
    """Every number of the units by column; NaN where there is none."""
    from scipy.stats import nbinom
    from scipy.stats import poisson as counted

    told, few_many = expected > 0, garwood(counts, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.where(told, counted.sf(counts - 1, expected), math.nan)
        usual, rates = alike, [np.full(len(counts), math.nan)] * 3
        if np.isfinite(prior.a):
            usual = np.where(told, nbinom.sf(counts - 1, prior.a, prior.a / (prior.a + prior.mean * expected)), math.nan)
            scale = np.where(told, expected / hours, math.nan)
            rates = [scale * rate for rate in shrunk(counts, expected, prior.a, prior.a / prior.mean, level)]
        return {
            **dict(zip(("estimate", "low", "high"), rates, strict=True)),
            "min_detectable_ratio": np.where(told, (1 + POWER_Z / 2 * np.sqrt(1 / expected + 1 / prior.a)) ** 2, math.nan),
            "raw_rate_per_h": counts / hours,
            "raw_low": few_many[0] / hours,
            "raw_high": few_many[1] / hours,
            "expected_failures": expected,
            "p_value": usual,
            "q_value": q_values(usual),
            "poisson_p_value": alike,
            "poisson_q_value": q_values(alike),
        }


MODEL = Model("ranking", "cells", ranking, "rates of units shrunk towards the fleet's, and which are worse than the usual spread")
