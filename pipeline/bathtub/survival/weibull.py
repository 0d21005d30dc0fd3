"""Weibull lifetimes with late entry, right and interval censoring, and covariates; the phase of the bathtub curve.

S(t) = exp(-(t/λ)^k). Rows of each group: scale_h (λ), shape_ratio (k), one time_ratio per covariate (accelerated
failure time: how many times longer units live per unit of it), survival_ratio at each `at_h`. With covariates, scale and
survival are those at their mean; text becomes 0/1 columns against the value that failed most often.

Late entry: a row's likelihood is divided by S(entry). `last_alive_h`, an optional column: the failure was found at exit_h
and happened after last_alive_h (hours; empty where the hour of failure is known). `age_known`, an optional column.

Limits: λ exp(±z se), k exp(±z se), from the curvature at the peak over (log λ, log k); survival by u = log(-log S) ± z se.
standard_error is that of the logarithm, of u for survival. min_detectable_ratio: exp((z(0.975) + z(0.8)) se), for
survival the hazard ratio of two equal groups. is_extrapolated: at_h lies outside the ages seen.
aic: 2 (parameters - log-likelihood), beside those of the other families on the same rows; log_likelihood in hours.

`phase`, from the limits of the shape: `useful life` where both lie within 1/constant_within to constant_within,
`infant mortality` where both lie below 1, `wear-out` where both lie above, else `undetermined`; undetermined too where
another family is 10 points of AIC better, since the shape then describes no hazard that the units have.

`failures`: `one` refuses units that are repaired; `first` takes each unit up to its first failure; `gaps` takes the
hours since the last repair, whose shape falls below 1 wherever units differ: no phase is read from it.
`shape`: a fixed k, an assumption, with the exact limits of T_k/r, T_k = Σ(t^k - e^k): for 0 or 1 failure.

Refused (reason): no_units, no_failures (a fixed shape then gives the lower limit), one_failure, no_maximum (the likelihood
rises without end: the only failures are the longest lives, or covariates say the same), age_unknown,
several_failures_per_unit, goes_on_after_failure, overlapping_intervals, gap_start_unknown, constant_covariate (that
term), interval_censored (with a fixed shape).

Assumes that entry and censoring tell nothing of failure.
References: Meeker & Escobar 1998, chapters 8 and 11; Abernethy 2006, chapter 6 (fixed shape).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._groups import Names, bounded_exp, hours, per_group, results, totals
from bathtub.survival._location_scale import WEIBULL, Lives
from bathtub.survival._parametric import FRONT, OWN, TAKEN, Asked, Law, asked, lives, one_clock, rows
from bathtub.survival.mtbf import detectable_ratio, garwood

SHAPES = (0.1, 50.0)
LAW = Law(WEIBULL, "scale_h", "shape_ratio", -1)


def weibull(  # noqa: PLR0913, PLR0917 - one argument per choice that changes the number
    lifetimes: pl.DataFrame,
    level: float = 0.95,
    by: Names = (),
    failures: str = "one",
    covariates: Names = (),
    at_h: Sequence[float] | float = (),
    shape: float | None = None,
    constant_within: float = 1.25,
) -> pl.DataFrame:
    """Rows of each group of `by`: by, term, at_h, RESULT, own columns (see the module).

    Raises ValueError for what `check` refuses, columns that are not there, a covariate or last_alive_h that is missing or
    no number, a shape outside SHAPES, a shape with covariates, constant_within below 1.
    """
    chosen = asked(lifetimes, confidence(level), failures, covariates, hours(at_h, "at_h"))
    if not 1 <= constant_within < np.inf:
        message = f"constant_within {constant_within!r}: give a ratio of 1 or more"
        raise ValueError(message)
    if shape is None:
        return per_group(lifetimes, by, TAKEN, lambda group: rows(group, LAW, chosen, constant_within))
    if not SHAPES[0] <= shape <= SHAPES[1] or chosen.covariates:
        message = f"shape {shape!r}: give a number from {SHAPES[0]:g} to {SHAPES[1]:g}, and no covariates"
        raise ValueError(message)
    return per_group(lifetimes, by, TAKEN, lambda group: _fixed(group, chosen, shape))


def _fixed(group: pl.DataFrame, chosen: Asked, shape: float) -> pl.DataFrame:
    """Scale and survival where the shape is given: t^k is exponential, so its limits are those of a rate."""
    on_clock, reason, assumptions = one_clock(group, chosen.failures)
    alike = {"confidence_level": chosen.level, "method": "exact", "assumptions": f"shape fixed at {shape:g}; {assumptions}"}
    alike |= totals(on_clock)
    data = lives(on_clock, ())[0]
    if reason in (None, "no_failures") and (data.last_alive < data.exit).any():
        reason = "interval_censored"
    if reason not in (None, "no_failures"):
        return results([{"quantity": LAW.location, "reason": reason, **alike}], FRONT, OWN)
    given = {"quantity": LAW.spread, "estimate": shape, "method": "given"}
    found = [_scale(data, chosen.level, shape, reason), given]
    found += [_survival(found[0], data, at, shape) for at in chosen.at_h]
    return results([{**alike, **row} for row in found], FRONT, OWN)


def _scale(data: Lives, level: float, shape: float, reason: str | None) -> dict[str, Any]:
    longest = float(data.exit.max())
    total = float(((data.exit / longest) ** shape - (data.entry / longest) ** shape).sum())
    n_failed = np.array([float(data.failed.sum())])
    few, many = (float(limit[0]) for limit in garwood(n_failed, level))
    estimate, low, high = (longest * (total / r) ** (1 / shape) if r > 0 else None for r in (n_failed[0], many, few))
    detectable = float(detectable_ratio(n_failed)[0]) ** (1 / shape)
    return {"quantity": LAW.location, "estimate": estimate, "low": low, "high": high, "reason": reason} | {
        "min_detectable_ratio": detectable
    }


def _survival(scale: dict[str, Any], data: Lives, at_h: float, shape: float) -> dict[str, Any]:
    """exp(-(t/λ)^k) at the scale and its limits."""
    names = ("estimate", "low", "high")
    powers = {name: shape * np.log(max(at_h, 1e-300) / scale[name]) for name in names if scale[name] is not None}
    found = {name: bounded_exp(-bounded_exp(power)) for name, power in powers.items()}
    outside = not data.entry.min() <= at_h <= data.exit.max()
    return {"quantity": "survival_ratio", "at_h": at_h, "reason": scale["reason"], "is_extrapolated": outside, **found}


MODEL = Model("weibull", "lifetimes", weibull, "Weibull lifetimes: shape, scale, phase of the bathtub curve, covariates")
