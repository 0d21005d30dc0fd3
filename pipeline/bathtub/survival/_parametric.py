"""Rows of a parametric model of lifetimes: location, spread, covariates, survival at named ages; AIC of every family."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import _location_scale as location_scale
from bathtub.survival import option
from bathtub.survival._groups import (
    LARGEST_EXPONENT,
    POWER_Z,
    Names,
    ages_known,
    bounded_exp,
    columns,
    design,
    results,
    totals,
    wrong,
)
from bathtub.survival._location_scale import Family, Fit, Lives, maximise

Floats = npt.NDArray[np.float64]

FRONT = {"term": pl.String(), "at_h": pl.Float64()}
OWN = {
    "standard_error": pl.Float64(),
    "log_likelihood": pl.Float64(),
    "aic": pl.Float64(),
    "aic_exponential": pl.Float64(),
    "aic_weibull": pl.Float64(),
    "aic_lognormal": pl.Float64(),
    "aic_log_logistic": pl.Float64(),
    "best_by_aic": pl.String(),
    "phase": pl.String(),
    "is_extrapolated": pl.Boolean(),
}
TAKEN = (*FRONT, *OWN)
FAILURES = ("one", "first", "gaps")
ALIKE = "entry and censoring tell nothing of failure; units of a group alike"


@dataclass(frozen=True)
class Law:
    """A family and what its parameters are called. `power`: of the spread s in the second, 1 or -1."""

    family: Family
    location: str
    spread: str
    power: int


@dataclass(frozen=True)
class Asked:
    """What a caller chose, checked."""

    level: float
    failures: str
    covariates: Sequence[str]
    at_h: Sequence[float]

    @property
    def z(self) -> float:
        """Standard errors on either side of an estimate."""
        return NormalDist().inv_cdf((1 + self.level) / 2)


def asked(frame: pl.DataFrame, level: float, failures: str, covariates: Names, at_h: Sequence[float]) -> Asked:
    """Raises ValueError for a word that is none of FAILURES, and a covariate that is no column."""
    return Asked(level, option("failures", failures, FAILURES), columns(frame, covariates, "covariates"), at_h)


def one_clock(group: pl.DataFrame, failures: str) -> tuple[pl.DataFrame, str | None, str]:
    """The rows on the clock of the model, why they have no estimate, and what is assumed.

    one: ages; a unit that is repaired refuses. first: ages, up to the first failure of each unit. gaps: hours since the
    end of the last repair; stretches before a unit's first failure count from 0 h, and are left out where they begin
    later or the age is unknown.
    """
    before = pl.col("event").cast(pl.Int64).cum_sum().over("unit") - pl.col("event").cast(pl.Int64)
    if failures == "one":
        return group, wrong(group), ALIKE
    reason = wrong(group, repairs=True, ages=failures == "first")
    if group.is_empty() or reason in ("overlapping_intervals", "age_unknown"):
        return group, reason, ALIKE
    spells = group.sort("unit", "entry_h").with_columns(spell=before)
    if failures == "first":
        first = spells.filter(pl.col("spell") == 0)
        return first, wrong(first), f"first failures only; {ALIKE}"
    begin = pl.col("entry_h").min().over("unit", "spell")
    known = spells.filter((pl.col("spell") > 0) | (begin == 0) & ages_known(spells))
    shifted = [pl.col(name) - begin for name in ("entry_h", "exit_h", "last_alive_h") if name in known.columns]
    gaps = known.with_columns(shifted)
    told = f"gaps between failures independent and alike, so that units that differ look like a falling hazard; {ALIKE}"
    return gaps, None if gaps["event"].any() else reason or "gap_start_unknown", told


def lives(group: pl.DataFrame, covariates: Sequence[str]) -> tuple[Lives, list[str]]:
    """The rows as arrays, and the terms of the covariates. Raises ValueError for a last_alive_h outside its row."""
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    last_alive = exit_
    if "last_alive_h" in group.columns:
        given = group["last_alive_h"].cast(pl.Float64, strict=False)
        last_alive = np.where(failed, given.fill_null(group["exit_h"]).to_numpy(), exit_)
        bad = (given.is_null() & group["last_alive_h"].is_not_null()).to_numpy()
        bad |= ~((last_alive >= entry) & (last_alive <= exit_))
        if bad.any():
            message = f"column 'last_alive_h': {group['last_alive_h'][int(bad.argmax())]!r}; give hours from entry_h to exit_h"
            raise ValueError(message)
    terms = design(group, covariates)
    x = np.column_stack([*terms.values()]) if terms else np.zeros((len(group), 0))
    return Lives(entry, exit_, last_alive, failed, x), list(terms)


def rows(group: pl.DataFrame, law: Law, asked: Asked, constant_within: float | None = None) -> pl.DataFrame:
    """Location, spread, one time ratio per term and survival at each at_h; or one row with a reason."""
    on_clock, reason, assumptions = one_clock(group, asked.failures)
    alike = {"confidence_level": asked.level, "method": "log", "assumptions": assumptions, **totals(on_clock)}
    if reason is None and alike["events"] == 1:
        reason = "one_failure"
    if reason is not None:
        return results([{"quantity": law.location, "reason": reason, **alike}], FRONT, OWN)
    data, terms = lives(on_clock, asked.covariates)
    varied = data.x.std(axis=0) > 0
    data = Lives(data.entry, data.exit, data.last_alive, data.failed, data.x[:, varied])
    fits = _fits(data)
    fit = fits[law.family.name]
    constant = [_term_row(term, "constant_covariate") for term, kept in zip(terms, varied, strict=True) if not kept]
    if fit is None:
        refused = {"quantity": law.location, "reason": "no_maximum"}
        return results([{**row, **alike} for row in (refused, *constant)], FRONT, OWN)
    compared = _compared(fits, data.x.shape[1])
    found = [*_parameters(fit, law, data), *_ratios(fit, [term for term, kept in zip(terms, varied, strict=True) if kept])]
    told = [_on_log_scale(row, asked.z) for row in found]
    told += [*constant, *(_survival(fit, law, data, at, asked.z) for at in asked.at_h)]
    alike |= {"log_likelihood": fit.log_likelihood, "aic": compared[f"aic_{law.family.name.replace('-', '_')}"], **compared}
    if constant_within is not None:
        alike["phase"] = _phase(told[1], compared, constant_within, asked.failures)
    return results([{**alike, **row} for row in told], FRONT, OWN)


def _fits(data: Lives) -> dict[str, Fit | None]:
    families = (location_scale.WEIBULL, location_scale.LOGNORMAL, location_scale.LOG_LOGISTIC)
    exponential = maximise(location_scale.WEIBULL, data, spread_fixed=True)
    return {"exponential": exponential, **{family.name: maximise(family, data) for family in families}}


def _compared(fits: dict[str, Fit | None], n_covariates: int) -> dict[str, Any]:
    """AIC = 2 (parameters - log-likelihood) of each family, null without a peak, and the name of the lowest."""
    free = {name: n_covariates + (1 if name == "exponential" else 2) for name in fits}
    found = {name: 2 * (free[name] - fit.log_likelihood) for name, fit in fits.items() if fit is not None}
    return {f"aic_{name.replace('-', '_')}": found.get(name) for name in fits} | {
        "best_by_aic": min(found, key=lambda n: found[n])
    }


def _parameters(fit: Fit, law: Law, data: Lives) -> list[dict[str, Any]]:
    """Location at the mean of the covariates, and spread: estimate and standard error of the logarithm."""
    at_mean = np.array([1.0, *data.x.mean(axis=0), 0.0])
    error = float(np.sqrt(at_mean @ fit.covariance @ at_mean))
    location = {"quantity": law.location, "estimate": float(np.exp(at_mean @ fit.parameters)), "standard_error": error}
    spread = float(np.exp(law.power * fit.parameters[-1]))
    return [location, {"quantity": law.spread, "estimate": spread, "standard_error": float(np.sqrt(fit.covariance[-1, -1]))}]


def _term_row(term: str, reason: str | None) -> dict[str, Any]:
    return {"quantity": "time_ratio", "term": term, "reason": reason}


def _ratios(fit: Fit, terms: Sequence[str]) -> list[dict[str, Any]]:
    """exp(b): how many times longer units live per unit of the covariate."""
    errors = np.sqrt(np.diag(fit.covariance))[1:-1]
    values = np.exp(fit.parameters[1:-1])
    return [
        {**_term_row(term, None), "estimate": float(value), "standard_error": float(error)}
        for term, value, error in zip(terms, values, errors, strict=True)
    ]


def _on_log_scale(row: dict[str, Any], z: float) -> dict[str, Any]:
    middle, error = np.log(row["estimate"]), row["standard_error"]
    powers = {"low": middle - z * error, "high": middle + z * error, "min_detectable_ratio": POWER_Z * error}
    return row | {name: bounded_exp(power) for name, power in powers.items()}


def _survival(fit: Fit, law: Law, data: Lives, at_h: float, z: float) -> dict[str, Any]:
    """Survival to at_h at the mean of the covariates; limits on the scale of u = log(-log S), by the delta method."""
    middle, spread = np.array([1.0, *data.x.mean(axis=0)]), np.exp(fit.parameters[-1])
    row = {"quantity": "survival_ratio", "at_h": at_h, "method": "log-log"}
    row["is_extrapolated"] = not data.entry.min() <= at_h <= data.exit.max()
    row["min_detectable_ratio"] = np.exp(POWER_Z * np.sqrt(2 / data.failed.sum()))
    at = np.array([(np.log(max(at_h, 1e-300)) - middle @ fit.parameters[:-1]) / spread])
    log_survival = law.family.log_survival(at)
    if not -LARGEST_EXPONENT < log_survival[0] < 0:
        return {**row, "estimate": float(np.exp(log_survival[0]))}
    steepness = np.exp(law.family.log_density(at) - log_survival) / -log_survival
    gradient = float(steepness[0]) * np.array([*(-middle / spread), -float(at[0])])
    error, u = float(np.sqrt(gradient @ fit.covariance @ gradient)), float(np.log(-log_survival[0]))
    low, estimate, high = (float(np.exp(-np.exp(u + shift * error))) for shift in (z, 0.0, -z))
    return {**row, "estimate": estimate, "low": low, "high": high, "standard_error": error}


MUCH_WORSE = 10.0
"""AIC points above the best at which a family has essentially no support (Burnham & Anderson 2002, section 2.6)."""


def _phase(shape: dict[str, Any], compared: dict[str, Any], constant_within: float, failures: str) -> str:
    """The part of the bathtub curve that the interval of the shape shows."""
    weibull, best = compared["aic_weibull"], compared[f"aic_{compared['best_by_aic'].replace('-', '_')}"]
    if failures == "gaps" or weibull - best > MUCH_WORSE:
        return "undetermined"
    if 1 / constant_within <= shape["low"] and shape["high"] <= constant_within:
        return "useful life"
    if shape["high"] < 1:
        return "infant mortality"
    return "wear-out" if shape["low"] > 1 else "undetermined"
