"""MTBF of each cell with exact limits, its lower bound, failures per device-hour, FIT and annual failure rate.

r failures in T device-hours, or in T/n_units hours of n_units alike in series, of which the first to fail ends the work;
q = (1 - level)/2; G(p; a) is the quantile of the Gamma distribution of shape a, scale 1.

| column | formula |
|---|---|
| estimate | T/r |
| low, high, time-truncated | T/G(1-q; r+1), T/G(q; r) |
| low, high, failure-truncated | T/G(1-q; r), T/G(q; r) |
| lower_bound (one-sided) | T/G(level; r+1), failure-truncated T/G(level; r) |
| rate_per_h, rate_low, rate_high | r/T and the limits of it; per instance-hour where cells are instances |
| fit, fit_60, fit_90 (per 1e9 h) | 1e9 r/T; 1e9 G(CL; r+1)/T whatever the truncation (JESD85; no acceleration factor) |
| afr, afr_low, afr_high | 1 - exp(-8760 x rate), of r/T and of the limits of the rate |
| min_detectable_ratio | (1 + (z(0.975) + z(0.8))/sqrt(2r))^2 |

The last is the rate ratio that a comparison with an equal exposure at the cell's own rate finds with 80 % power at
5 % two-sided. It solves 2(sqrt(R r) - sqrt(r))/sqrt(2) = z + z', since the root of a Poisson count has variance 1/4
(Huffman 1984, Applied Statistics 33: 224; Gu et al. 2008, Biometrical Journal 50: 283, equal exposures).

Without a failure there is no estimate and no upper limit: reason `no_failures`, lower bounds only. Nothing at all
without exposure (`no_exposure`), where a number was not measured (`failures_unknown`, `exposure_unknown`), or where
observation is said to stop at a failure that never came (`truncation_without_failure`).

Assumes a constant rate and independent failures: where units differ, limits for a given subset are too narrow.
References: Garwood 1936, Biometrika 28: 437; NIST/SEMATECH handbook 8.4.5.1; JESD85.
"""

import math
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, arrange, check, confidence, labels, option

Floats = npt.NDArray[np.float64]

OWN = {
    "lower_bound": pl.Float64(),
    "truncation": pl.String(),
    "n_units": pl.Int64(),
    "rate_per_h": pl.Float64(),
    "rate_low": pl.Float64(),
    "rate_high": pl.Float64(),
    "fit": pl.Float64(),
    "fit_60": pl.Float64(),
    "fit_90": pl.Float64(),
    "afr": pl.Float64(),
    "afr_low": pl.Float64(),
    "afr_high": pl.Float64(),
}
HOURS_PER_YEAR, MOST_UNITS = 8760.0, 10**9
ASSUMPTIONS = "constant rate; independent failures; all units alike"


def gamma_quantile(p: float, shape: Floats) -> Floats:
    """G(p; shape), the quantile of the Gamma distribution of scale 1; 0 at shape 0. Shapes: n to n."""
    from scipy.special import gammaincinv

    found: Floats = np.where(shape > 0, gammaincinv(np.maximum(shape, 1e-300), p), 0.0)
    return found


def garwood(events: Floats, level: float) -> tuple[Floats, Floats]:
    """Exact two-sided limits of a Poisson mean from its count: G(q; r) and G(1-q; r+1). Shapes: n to n, n.

    They over-cover at small r. Garwood 1936.
    """
    q = (1.0 - level) / 2
    return gamma_quantile(q, events), gamma_quantile(1 - q, events + 1)


def detectable_ratio(events: Floats) -> Floats:
    """Smallest rate ratio above 1 found at 80 % power, 5 % two-sided, against equal exposure; NaN without events."""
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    with np.errstate(divide="ignore"):
        ratio: Floats = (1 + z / np.sqrt(2 * events)) ** 2
    return np.where(events > 0, ratio, math.nan)


def mtbf(
    cells: pl.DataFrame, level: float = 0.95, truncation: Literal["time", "failure"] = "time", n_units: float = 1
) -> pl.DataFrame:
    """One row per cell, in the order given: labels, RESULT (quantity mtbf_h, in hours), then the module's own columns.

    `cells`: failures, exposure_h (device-hours), labels. `truncation`: `time` where observation ends at a date (the
    normal case), `failure` where it stops at the last failure. `n_units`: the figures are those of so many units in series
    (a cluster of that size); `exposure_h` stays that of units. Raises ValueError for counts that are negative or not
    whole, negative exposure, NaN, labels named like a result, and a number of units that is not whole or below 1.
    """
    if not 1 <= n_units <= MOST_UNITS or n_units != int(n_units):
        message = f"n_units {n_units!r}: give a whole number from 1"
        raise ValueError(message)
    level, truncation_ = confidence(level), option("truncation", truncation, ("time", "failure"))
    cells = check(cells, "cells")
    front = labels(cells, tuple(OWN))
    events = cells["failures"].fill_null(math.nan).to_numpy()
    hours = cells["exposure_h"].fill_null(math.nan).to_numpy()
    reasons = [_reason(r, t, truncation_) for r, t in zip(events, hours, strict=True)]
    usable = np.array([reason in (None, "no_failures") for reason in reasons], dtype=bool)
    figures = _figures(np.where(usable, events, 0.0), np.where(usable, hours, 1.0) / n_units, level, truncation_)
    columns = {name: np.where(usable, values, math.nan) for name, values in figures.items()}
    return arrange(
        cells.with_columns(
            quantity=pl.lit("mtbf_h"),
            confidence_level=pl.lit(level),
            method=pl.lit("exact"),
            events=pl.col("failures"),
            truncation=pl.lit(truncation_),
            n_units=pl.lit(int(n_units)),
            assumptions=pl.lit(ASSUMPTIONS if n_units == 1 else f"{ASSUMPTIONS}; {int(n_units)} units in series"),
            reason=pl.Series(reasons, dtype=pl.String),
            **{name: pl.Series(values, dtype=pl.Float64) for name, values in columns.items()},
        ),
        front,
        OWN,
    )


def _reason(events: float, hours: float, truncation: str) -> str | None:
    """Why a cell has no estimate; null where it has one."""
    if math.isnan(hours):
        return "exposure_unknown"
    if hours == 0:
        return "no_exposure"
    if math.isnan(events):
        return "failures_unknown"
    if events == 0:
        return "no_failures" if truncation == "time" else "truncation_without_failure"
    return None


def _figures(events: Floats, hours: Floats, level: float, truncation: str) -> dict[str, Floats]:
    """Every number of the cells by column, NaN where unbounded. Shapes: n, n to n each; hours above 0."""
    few, many = garwood(events, level)
    bound = gamma_quantile(level, events + 1)
    if truncation == "failure":
        many, bound = gamma_quantile((1 + level) / 2, events), gamma_quantile(level, events)
    return {
        "estimate": _ratio(hours, events),
        "low": _ratio(hours, many),
        "high": _ratio(hours, few),
        "lower_bound": _ratio(hours, bound),
        "rate_per_h": np.where(events > 0, events / hours, math.nan),
        "rate_low": few / hours,
        "rate_high": many / hours,
        "fit": np.where(events > 0, 1e9 * events / hours, math.nan),
        "fit_60": 1e9 * gamma_quantile(0.6, events + 1) / hours,
        "fit_90": 1e9 * gamma_quantile(0.9, events + 1) / hours,
        "afr": np.where(events > 0, -np.expm1(-HOURS_PER_YEAR * events / hours), math.nan),
        "afr_low": -np.expm1(-HOURS_PER_YEAR * few / hours),
        "afr_high": -np.expm1(-HOURS_PER_YEAR * many / hours),
        "min_detectable_ratio": detectable_ratio(events),
    }


def _ratio(above: Floats, below: Floats) -> Floats:
    """above/below, NaN where below is 0. Shapes: n, n to n."""
    found: Floats = np.divide(above, below, out=np.full(len(above), math.nan), where=below > 0)
    return found


MODEL = Model("mtbf", "cells", mtbf, "MTBF of each cell with exact limits, lower bound, FIT and annual failure rate")
