"""Failure rate against temperature: slope per degree over fine cells, with exposure as offset.

log rate = a + b (T - T0) + cos and sin of the hour (24 h and 12 h) + labels, over cells of 1 C or finer with the mean temperature
of the cell, T0 the mean over exposure. Temperature must be that of the unit itself in the last full hour before: what is read
after a fault is its consequence. Where cells of a combination of the other labels have one temperature only, units were
averaged, and the slope is of something else (25 times too steep in a known case): refused.

With a column `risk_set` (one value per failure time, cells = units at risk then) an intercept per set takes the place of hours:
the partial likelihood of Cox on a calendar clock, ties by Breslow. All that is common to the fleet cancels.

| row | estimate |
|---|---|
| log_rate_per_c | b; limits b ± z se, se by Student's t and the negative binomial where cells are spread wider than Poisson |
| activation_energy_ev | b k T0^2, k = 8.617333e-5 eV/K, T0 in kelvin: Arrhenius only says the same slope in other words |
| log_rate_per_c of margin_c | the same fit with the margin to the limit, where the table has it, in place of the temperature |

min_detectable_slope: 2.80 se, found with 80 % power at 5 % two-sided; min_detectable_ratio is its exponential, per degree.
effect: rising, falling, none found (limits on both sides of 0).

Refused (reason): no_cells, exposure_unknown, no_exposure, failures_unknown, failures_without_exposure, no_failures,
averaged_temperature, constant_covariate, more_terms_than_failures, no_contrast, monotone_likelihood.

Assumes independent failures and one slope for all. References: McCullagh & Nelder 1989, chapter 6; JEP122 (Arrhenius).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._cells import asked, design, harmonics, numbers, totals, words, wrong
from bathtub.survival._glm import Cells, Fit, conditional, fitted
from bathtub.survival._groups import POWER_Z, Names, bounded_exp, results

Floats = npt.NDArray[np.float64]

FRONT = {"term": pl.String()}
OWN = {
    "effect": pl.String(),
    "p_value": pl.Float64(),
    "min_detectable_slope": pl.Float64(),
    "standard_error": pl.Float64(),
    "mean_c": pl.Float64(),
    "theta": pl.Float64(),
    "overdispersion_p": pl.Float64(),
    "n_cells": pl.Int64(),
}
MARGIN, RISK_SET, DEGREES = "margin_c", "risk_set", (-1000.0, 1000.0)
BOLTZMANN_EV_PER_K, ZERO_C_IN_K = 8.617333e-5, 273.15
ASSUMED = "independent failures; one slope for all units; temperature of the hour before"


def thermal(
    cells: pl.DataFrame, level: float = 0.95, temperature: str = "temperature_c", hour: str = "hour", terms: Names = ()
) -> pl.DataFrame:
    """Two rows for the temperature, one more for `margin_c` where the table has it: term, RESULT, own columns (see the module).

    `cells`: failures, exposure_h, the temperature (C), the hour of the day where there is one, labels. `terms`: the labels that
    are adjusted for, else all. Raises ValueError for what `check` refuses, a temperature or hour that is missing or no
    number, and a label of too many words.
    """
    level = confidence(level)
    cells, labels = asked(cells, (*FRONT, *OWN), (temperature, MARGIN, RISK_SET, hour), terms)
    covariates = [temperature, *([MARGIN] if MARGIN in cells.columns else [])]
    return results([row for name in covariates for row in _rows(cells, level, name, hour, labels)], FRONT, OWN)


def _rows(cells: pl.DataFrame, level: float, covariate: str, hour: str, labels: Sequence[str]) -> list[dict[str, Any]]:
    degrees = numbers(cells, covariate, *(DEGREES if covariate == MARGIN else (-ZERO_C_IN_K, DEGREES[1])))
    alike = {"term": covariate, "confidence_level": level, "method": "log", "assumptions": ASSUMED, **totals(cells)}
    reason = wrong(cells)
    fit = reason if reason is not None else _fit(cells, degrees, hour, labels)
    quantities = ["log_rate_per_c", *([] if covariate == MARGIN else ["activation_energy_ev"])]
    if isinstance(fit, str):
        return [{**alike, "quantity": quantity, "reason": fit} for quantity in quantities]
    found, told, at, n_cells = fit
    mean = float(np.average(degrees, weights=cells["exposure_h"].to_numpy()))
    alike |= {"assumptions": ASSUMED + told, "mean_c": mean, "n_cells": n_cells}
    slope = {**alike, "quantity": quantities[0], **_slope(found, at, level)}
    if covariate == MARGIN:
        return [slope]
    factor = BOLTZMANN_EV_PER_K * (mean + ZERO_C_IN_K) ** 2
    energy = {name: slope[name] * factor for name in ("estimate", "low", "high", "standard_error")}
    words_ = f"; the slope at {mean:.1f} C in the words of Arrhenius, not a test of it"
    return [slope, {**slope, "quantity": quantities[1], **energy, "assumptions": alike["assumptions"] + words_}]


def _fit(cells: pl.DataFrame, degrees: Floats, hour: str, labels: Sequence[str]) -> tuple[Fit, str, int, int] | str:
    """The fit, what it assumes, where its slope stands, the cells it rests on; or a reason."""
    in_sets = RISK_SET in cells.columns
    has_hours = hour in cells.columns and cells[hour].null_count() < len(cells)
    by_hour = harmonics(cells, hour, 2) if has_hours and not in_sets else {}
    others = [*labels, *([hour] if has_hours else []), *([RISK_SET] if in_sets else [])]
    if others and cells.select(others).n_unique() == len(cells):
        return "averaged_temperature"
    found = words(cells, labels)
    told = f"; beside {', '.join([*(['hour'] if by_hour else []), *labels])}" if by_hour or labels else ""
    x = design(cells, found.kept, {"degrees": degrees - degrees.mean()}, {**by_hour, **found.columns})
    if isinstance(x, str):
        return x
    if in_sets:
        sets = cells[RISK_SET].cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
        used = found.kept & (cells["exposure_h"].to_numpy() > 0)
        fit, told, at = conditional(Cells(x.x[:, 1:], x.counts, x.hours), sets[used]), told + "; within risk sets", 0
    else:
        fit, at = fitted(x), 1
    return fit if isinstance(fit, str) else (fit, told + found.told, at, len(x.counts))


def _slope(fit: Fit, at: int, level: float) -> dict[str, Any]:
    """The coefficient with its limits, and what could have been found."""
    b, error = float(fit.coefficients[at]), float(fit.errors[at])
    low, high = (b + side * fit.quantile(level) * error for side in (-1, 1))
    return {
        "estimate": b,
        "low": low,
        "high": high,
        "standard_error": error,
        "p_value": fit.two_sided_p(b / error),
        "min_detectable_slope": POWER_Z * error,
        "min_detectable_ratio": bounded_exp(POWER_Z * error),
        "effect": "rising" if low > 0 else "falling" if high < 0 else "none found",
        "theta": fit.theta,
        "overdispersion_p": fit.overdispersion_p,
    }


MODEL = Model("thermal", "cells", thermal, "failure rate per degree over fine cells, with the slope that could have been found")
