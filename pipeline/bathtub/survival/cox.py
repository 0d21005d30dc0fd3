"""Proportional hazards (Cox) with late entry, strata, start-stop rows and recurrent failures (Andersen-Gill).

Hazard of a row: h_0(t) exp(x b), h_0 left open, one per stratum. A unit may have several rows (entry_h, exit_h], over which
covariates change; it is at risk in one of them at a time. Ties by Efron or Breslow: other software differs by which it takes.
Text becomes 0/1 columns against the value that failed most often. Use: rates over cells first (`rate-ratio`, `thermal`); this
is the check. On a calendar clock all that is common to the fleet (hour, room temperature) cancels.

Rows: hazard_ratio of each term, exp(b), limits exp(b ± z se); then cumulative_hazard of each stratum at each `at_h`, at the
mean of the covariates over rows, by Breslow's sum over (entry, exit] risk sets, limits H exp(±z se/H).

standard_error is from the information. clustered_error adds up score residuals by unit (ties and late entry honoured);
limits and p_value use it where units go on after a failure, and method says so. It wants some tens of units that fail.

ph_chi2, ph_p_value: score test that b does not change with 1 - S(t-), S the Kaplan-Meier curve, exact as in newer software, and
ph_chi2_all for all terms; its power grows with the failures, so that among many it finds changes of no size.
min_detectable_ratio: exp((z(0.975) + z(0.8)) se). `cause`: failures of other causes, and of unknown cause, are censorings.

Refused (reason): no_units, no_failures, no_covariates, overlapping_intervals, age_unknown;
by term: constant_covariate, no_failures (none among the rows that the 0/1 column marks: see `rate-ratio`
for its upper limit; its rows are left out, which is the limit of the fit), no_other_failures (none among the rest); of the
fit: no_contrast, monotone_likelihood, more_terms_than_failures; of a baseline: beyond_data, no_failures.

Assumes proportional hazards, and that entry and censoring tell nothing of failure.
References: Cox 1972; Efron 1977; Andersen & Gill 1982; Therneau & Grambsch 2000, chapters 3, 6, 7, 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence, option
from bathtub.survival._groups import (
    POWER_Z,
    Names,
    at_risk,
    bounded_exp,
    columns,
    design,
    hours,
    per_group,
    results,
    totals,
    wrong,
)
from bathtub.survival._risk_sets import CoxFit, baseline, clustered_covariance, maximise, proportionality, risk_sets

Floats = npt.NDArray[np.float64]

FRONT = {"term": pl.String(), "stratum": pl.String(), "at_h": pl.Float64()}
OWN = {
    "coefficient": pl.Float64(),
    "standard_error": pl.Float64(),
    "clustered_error": pl.Float64(),
    "p_value": pl.Float64(),
    "ph_chi2": pl.Float64(),
    "ph_p_value": pl.Float64(),
    "ph_chi2_all": pl.Float64(),
    "log_likelihood": pl.Float64(),
    "log_likelihood_null": pl.Float64(),
    "n_units": pl.Int64(),
}


@dataclass(frozen=True)
class Asked:
    """What a caller chose, checked."""

    level: float
    covariates: Sequence[str]
    strata: Sequence[str]
    ties: str
    at_h: Sequence[float]
    cause: str | None

    @property
    def z(self) -> float:
        """Standard errors on either side of an estimate."""
        return NormalDist().inv_cdf((1 + self.level) / 2)


def cox(  # noqa: PLR0913, PLR0917 - one argument per choice that changes the number
    lifetimes: pl.DataFrame,
    level: float = 0.95,
    by: Names = (),
    covariates: Names = (),
    strata: Names = (),
    ties: str = "efron",
    at_h: Sequence[float] | float = (),
    cause: str | None = None,
) -> pl.DataFrame:
    """Rows of each group of `by`: by, term, stratum, at_h, RESULT, own columns (see the module).

    Raises ValueError for what `check` refuses, columns that are not there, a covariate that is missing, not finite or has
    too many words, and `cause` without a column of that name.
    """
    if cause is not None:
        columns(lifetimes, "cause", "column")
    found = columns(lifetimes, covariates, "covariates"), columns(lifetimes, strata, "strata")
    asked = Asked(confidence(level), *found, option("ties", ties, ("efron", "breslow")), hours(at_h, "at_h"), cause)
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, asked))


def _group(group: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    told = f"proportional hazards; ties by {asked.ties}; entry and censoring tell nothing of failure"
    if asked.cause is not None:
        group = group.with_columns((pl.col("event") & (pl.col("cause").cast(pl.String) == asked.cause)).fill_null(value=False))
        told += "; other causes are censorings"
    alike = {"confidence_level": asked.level, "method": "log", "assumptions": told, **totals(group)}
    recurs = wrong(group) in ("several_failures_per_unit", "goes_on_after_failure")
    reason = wrong(group, repairs=recurs) or (None if asked.covariates else "no_covariates")
    if reason is not None:
        return results([{**alike, "quantity": "hazard_ratio", "reason": reason}], FRONT, OWN)
    terms = design(group, asked.covariates)
    refused = {name: why for name, x in terms.items() if (why := _refusal(x, group["event"].to_numpy())) is not None}
    kept = {name: x for name, x in terms.items() if name not in refused}
    rows = [{**alike, "quantity": "hazard_ratio", "term": name, "reason": why} for name, why in refused.items()]
    dropped = np.zeros(len(group), dtype=bool)
    for name, why in refused.items():
        dropped |= (terms[name] == 1) if why == "no_failures" else (terms[name] == 0) if why == "no_other_failures" else False
    fit = _fit(group.filter(~dropped), [x[~dropped] for x in kept.values()], asked)
    if isinstance(fit, str):
        rows += [{**alike, "quantity": "hazard_ratio", "term": name, "reason": fit} for name in kept]
        return results(rows, FRONT, OWN)
    alike |= {"n_units": group["unit"].n_unique()}
    alike |= {"log_likelihood": fit[0].log_likelihood, "log_likelihood_null": fit[0].log_likelihood_null}
    found = [
        *_ratios(fit[0], group.filter(~dropped), asked, list(kept), recurs=recurs),
        *_baselines(fit, group.filter(~dropped), asked),
    ]
    return results([*rows, *({**alike, **row} for row in found)], FRONT, OWN)


def _refusal(x: Floats, failed: npt.NDArray[np.bool_]) -> str | None:
    """Why a term has no finite coefficient whatever stands beside it; null where it may have one."""
    if (x == x[0]).all():
        return "constant_covariate"
    if np.isin(x, (0.0, 1.0)).all():
        return {0.0: "no_failures", 1.0: "no_other_failures"}.get(float(x[failed].mean()))
    return None


def _fit(group: pl.DataFrame, x: list[Floats], asked: Asked) -> tuple[CoxFit, Sequence[str]] | str:
    """The fit and the names of its strata, or a reason."""
    if not x:
        return "no_covariates"
    if len(x) > group["event"].sum():
        return "more_terms_than_failures"
    words = [pl.lit(f"{name}=") + pl.col(name).cast(pl.String).fill_null("") for name in asked.strata]
    labels = group.select(pl.concat_str(words, separator="; "))[:, 0].to_numpy() if words else np.full(len(group), "")
    names, strata = np.unique(labels.astype(str), return_inverse=True)
    matrix = np.column_stack(x)
    spans = group["entry_h"].to_numpy(), group["exit_h"].to_numpy()
    sets = risk_sets(
        matrix - matrix.mean(axis=0), spans, group["event"].to_numpy(), strata.astype(np.int64), is_efron=asked.ties == "efron"
    )
    found = maximise(sets)
    return found if isinstance(found, str) else (found, names.tolist())


def _ratios(fit: CoxFit, group: pl.DataFrame, asked: Asked, terms: list[str], *, recurs: bool) -> list[dict[str, Any]]:
    """One row per term."""
    from scipy.stats import chi2

    units = group["unit"].rank("dense").to_numpy().astype(np.int64) - 1
    clustered = np.sqrt(np.diag(clustered_covariance(fit, units)))
    plain = np.sqrt(np.diag(fit.covariance))
    errors = clustered if recurs else plain
    changes, all_changes = proportionality(fit, _clock(fit, group))
    rows = []
    for j, term in enumerate(terms):
        b, error = float(fit.coefficients[j]), float(errors[j])
        row: dict[str, Any] = {"quantity": "hazard_ratio", "term": term}
        row |= {"method": "log, clustered by unit" if recurs else "log"}
        row |= {"coefficient": b, "standard_error": plain[j], "clustered_error": clustered[j]}
        powers = {"estimate": b, "low": b - asked.z * error, "high": b + asked.z * error, "min_detectable_ratio": POWER_Z * error}
        row |= {name: bounded_exp(power) for name, power in powers.items()}
        row |= {"p_value": 2 * NormalDist().cdf(-abs(b) / error) if error > 0 else None}
        rows.append(row | {"ph_chi2": changes[j], "ph_p_value": float(chi2.sf(changes[j], 1)), "ph_chi2_all": all_changes})
    return rows


def _clock(fit: CoxFit, group: pl.DataFrame) -> Floats:
    """1 - S(t-) of all rows together, at each death."""
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    times, n_failed = np.unique(exit_[failed], return_counts=True)
    after = np.cumprod(1 - n_failed / at_risk(entry, exit_, times))
    found: Floats = 1 - np.concatenate([[1.0], after[:-1]])
    return found[np.searchsorted(times, fit.sets.times[fit.sets.at])]


def _baselines(fit: tuple[CoxFit, Sequence[str]], group: pl.DataFrame, asked: Asked) -> list[dict[str, Any]]:
    """One row per stratum and at_h."""
    rows, last = [], float(group["exit_h"].to_numpy().max())
    for at_h in asked.at_h:
        for stratum, name in enumerate(fit[1]):
            row: dict[str, Any] = {"quantity": "cumulative_hazard", "stratum": name or None, "at_h": at_h}
            total, error = baseline(fit[0], at_h, stratum)
            row["reason"] = "beyond_data" if at_h > last else "no_failures" if total == 0 else None
            if row["reason"] is None:
                factor = bounded_exp(asked.z * error / total)
                row |= {"estimate": total, "low": total / factor, "high": total * factor, "standard_error": error}
                row["min_detectable_ratio"] = bounded_exp(POWER_Z * np.sqrt(2) * error / total)
            rows.append(row)
    return rows


MODEL = Model("cox", "lifetimes", cox, "proportional hazards with late entry, strata, start-stop rows and recurrent failures")
