"""Failure rate over the hours of the day: harmonics of 24 and 12 h, weekend, exposure by hour as offset.

log rate = a + c1 cos wh + s1 sin wh + c2 cos 2wh + s2 sin 2wh + weekend + labels, w = 2 pi/24, h the middle of the hour. Hours
are those of the column: civil hours follow people and load, solar hours follow heat; the assumptions name the column. Exposure
must be that of the hour: service windows and load look like a rhythm where it is not.

| row | estimate |
|---|---|
| amplitude_24h_log, amplitude_12h_log | sqrt(c^2 + s^2) on the log scale; 0.1 is about 10 % above and below the mean |
| weekend_ratio | rate of weekends over that of other days, where the table says which |

p_value of an amplitude: likelihood ratio, 2 degrees; Poisson, or negative binomial (then by F) where the cells are spread wider.
Its limits are those of a noncentral chi2: low is 0 exactly where p_value is above 1 - level. Of an amplitude whose limit is 0
no peak hour is told. min_detectable_amplitude: sqrt(9.635) se (80 % power, 5 %; sqrt(2 x 9.635/n) over even exposure);
min_detectable_ratio is peak to trough, exp of twice it. peak_to_trough_ratio: of the fitted curve, without limits.
effect: found, none found.

Refused (reason): no_cells, exposure_unknown, no_exposure, failures_unknown, failures_without_exposure, no_failures,
constant_covariate, more_terms_than_failures, no_contrast, monotone_likelihood.

Assumes independent failures beside the common spread. References: Bliss 1958; Lawless 1987; noncentrality: `_noncentral`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence, option
from bathtub.survival._cells import HOURS_PER_DAY, asked, design, flags, harmonics, totals, words, wrong
from bathtub.survival._glm import Cells, Fit, fitted, likelihood_ratio_p
from bathtub.survival._groups import POWER_Z, Names, bounded_exp, results
from bathtub.survival._noncentral import detectable, limits

Floats = npt.NDArray[np.float64]

OWN = {
    "effect": pl.String(),
    "p_value": pl.Float64(),
    "min_detectable_amplitude": pl.Float64(),
    "peak_hour": pl.Float64(),
    "peak_hour_low": pl.Float64(),
    "peak_hour_high": pl.Float64(),
    "peak_to_trough_ratio": pl.Float64(),
    "standard_error": pl.Float64(),
    "theta": pl.Float64(),
    "overdispersion_p": pl.Float64(),
    "n_cells": pl.Int64(),
}


@dataclass(frozen=True)
class Fitted:
    """The fit over its cells; the first terms are the harmonics, `weekend_at` is where that of weekends stands."""

    cells: Cells
    fit: Fit
    n_harmonics: int
    weekend_at: int | None


def diurnal(
    cells: pl.DataFrame,
    level: float = 0.95,
    hour: str = "hour",
    weekend: str = "is_weekend",
    n_harmonics: int = 2,
    terms: Names = (),
) -> pl.DataFrame:
    """One row per harmonic, one for weekends where the table has that column: RESULT, own columns (see the module).

    `cells`: failures, exposure_h, the hour of the day (0 to 23), is_weekend, labels. `terms`: labels that are adjusted for, else
    all. Raises ValueError for what `check` refuses, another hour, what is neither true nor false, a label of too many words.
    """
    level, n_harmonics = confidence(level), int(option("n_harmonics", str(int(n_harmonics)), ("1", "2")))
    cells, labels = asked(cells, tuple(OWN), (hour, weekend), terms)
    waves = harmonics(cells, hour, n_harmonics)
    weekends = {"weekend": flags(cells, weekend)} if weekend in cells.columns else {}
    told = f"independent failures; hours of the column {hour}, of exposure by the hour"
    alike = {"confidence_level": level, "assumptions": told, **totals(cells)}
    reason = wrong(cells)
    found = reason if reason is not None else _fit(cells, waves, weekends, labels)
    if isinstance(found, str):
        quantities = [*(_quantity(k) for k in range(n_harmonics)), *(["weekend_ratio"] if weekends else [])]
        refused = [{**alike, "method": "profile", "quantity": quantity, "reason": found} for quantity in quantities]
        return results(refused, {}, OWN)
    fit, left_out = found
    spread = {"theta": fit.fit.theta, "overdispersion_p": fit.fit.overdispersion_p, "n_cells": len(fit.cells.counts)}
    alike |= {"assumptions": told + left_out, **spread}
    rows = [_amplitude(fit, k, level) for k in range(n_harmonics)]
    rows[0]["peak_to_trough_ratio"] = _peak_to_trough(fit)
    rows += [_weekend(fit, level)] if weekends else []
    return results([{**alike, **row} for row in rows], {}, OWN)


def _quantity(k: int) -> str:
    return f"amplitude_{HOURS_PER_DAY // (k + 1)}h_log"


def _fit(
    cells: pl.DataFrame, waves: Mapping[str, Floats], weekends: Mapping[str, Floats], labels: Sequence[str]
) -> tuple[Fitted, str] | str:
    """The fit and what it leaves out, or a reason."""
    found = words(cells, labels)
    used = found.kept & (cells["exposure_h"].to_numpy() > 0)
    vary = bool(weekends) and np.ptp(weekends["weekend"][used]) > 0
    x = design(cells, found.kept, waves, {**weekends, **found.columns})
    if isinstance(x, str):
        return x
    fit = fitted(x)
    if isinstance(fit, str):
        return fit
    told = f"; beside {', '.join(labels)}" if labels else ""
    return Fitted(x, fit, len(waves) // 2, 1 + len(waves) if vary else None), told + found.told


def _amplitude(found: Fitted, k: int, level: float) -> dict[str, Any]:
    """The row of one harmonic."""
    from scipy.stats import chi2

    at = slice(1 + 2 * k, 3 + 2 * k)
    pair, covariance = found.fit.coefficients[at], found.fit.covariance[at, at]
    amplitude, mean_error = float(np.hypot(*pair)), math.sqrt(np.trace(covariance) / 2)
    p = likelihood_ratio_p(found.cells, found.fit, at)
    if isinstance(p, str):
        return {"quantity": _quantity(k), "method": "profile", "reason": p}
    x = float(chi2.isf(p, 2)) if p > 0 else float(pair @ np.linalg.solve(covariance, pair))
    error = amplitude / math.sqrt(x) if x > 0 and amplitude > 0 else mean_error
    low, high = (math.sqrt(s) * error for s in limits(x, level))
    smallest = math.sqrt(detectable()) * mean_error
    return {
        "quantity": _quantity(k),
        "method": "profile",
        "estimate": amplitude,
        "low": low,
        "high": high,
        "standard_error": mean_error,
        "p_value": p,
        "effect": "found" if low > 0 else "none found",
        "min_detectable_amplitude": smallest,
        "min_detectable_ratio": bounded_exp(2 * smallest),
        **(_peak(pair, covariance, k, found.fit.quantile(level)) if low > 0 else {}),
    }


def _peak(pair: Floats, covariance: Floats, k: int, z: float) -> dict[str, float]:
    """The hour of the (first) peak of a harmonic, with limits by the delta method; they may pass midnight."""
    amplitude = float(np.hypot(*pair))
    across = np.array([-pair[1], pair[0]]) / amplitude
    error, per_angle = math.sqrt(across @ covariance @ across) / amplitude, HOURS_PER_DAY / (k + 1) / (2 * math.pi)
    peak, width = math.atan2(pair[1], pair[0]) * per_angle, min(z * error, math.pi) * per_angle
    hours = {"peak_hour": peak, "peak_hour_low": peak - width, "peak_hour_high": peak + width}
    return {
        name: hour % HOURS_PER_DAY if name != "peak_hour" else hour % (HOURS_PER_DAY / (k + 1)) for name, hour in hours.items()
    }


def _peak_to_trough(found: Fitted) -> float:
    """Highest over lowest rate of the fitted curve, by the minute."""
    angle = np.linspace(0, 2 * math.pi, 1440, endpoint=False)
    waves = [wave(k * angle) for k in range(1, found.n_harmonics + 1) for wave in (np.cos, np.sin)]
    return bounded_exp(float(np.ptp(found.fit.coefficients[1 : 1 + len(waves)] @ np.array(waves))))


def _weekend(found: Fitted, level: float) -> dict[str, Any]:
    """The row of weekends."""
    row: dict[str, Any] = {"quantity": "weekend_ratio", "method": "log"}
    if found.weekend_at is None:
        return {**row, "reason": "constant_covariate"}
    b, error = (float(values[found.weekend_at]) for values in (found.fit.coefficients, found.fit.errors))
    width = found.fit.quantile(level) * error
    powers = {"estimate": b, "low": b - width, "high": b + width, "min_detectable_ratio": POWER_Z * error}
    row |= {name: bounded_exp(power) for name, power in powers.items()}
    row |= {"standard_error": error, "p_value": found.fit.two_sided_p(b / error)}
    return {**row, "effect": "found" if abs(b) > width else "none found"}


MODEL = Model(
    "diurnal", "cells", diurnal, "failure rate over the hours of the day, with the amplitude that could have been found"
)
