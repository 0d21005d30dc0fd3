"""Do groups differ in their hazard: the log-rank test with late entry, and each group's hazard against all the others.

At each distinct failure time t_j, of n_j at risk d_j fail, of group g n_gj and d_gj: expected E_g = Σ n_gj d_j/n_j, with
covariance V_gh = Σ d_j (n_j - d_j)/(n_j - 1) (n_gj/n_j) (1[g = h] - n_hj/n_j). chi2 = (O - E)' V⁻ (O - E) on groups - 1.
Estimate: the hazard of the group as a ratio to all the others together, by the partial likelihood of one 0/1 covariate (ties by
Efron), limits exp(b ± z se). Covariates and several groups against one: the model `cox`. Several groups are several tests.

min_detectable_ratio: exp((z(0.975) + z(0.8)) se). Intervals are half-open (entry, exit].
Refused (reason): no_units, no_failures (in all, or in that group: `rate-ratio` has an upper limit), no_other_failures,
one_group, no_contrast (never at risk together), monotone_likelihood, several_failures_per_unit, goes_on_after_failure,
overlapping_intervals, age_unknown.

Assumes that entry and censoring tell nothing of failure; power is best where hazards are proportional.
References: Mantel 1966; Peto & Peto 1972; Klein & Moeschberger 2003, section 7.3.
"""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._groups import POWER_Z, Names, at_risk, bounded_exp, columns, per_group, results, totals, wrong
from bathtub.survival._risk_sets import maximise, risk_sets

Floats = npt.NDArray[np.float64]

FRONT = {"group": pl.String()}
OWN = {"n_units": pl.Int64(), "expected": pl.Float64(), "chi2": pl.Float64(), "degrees": pl.Int64(), "p_value": pl.Float64()}
ASSUMPTIONS = "entry and censoring tell nothing of failure; hazards in one proportion at all ages"


def log_rank(lifetimes: pl.DataFrame, level: float = 0.95, groups: str = "group", by: Names = ()) -> pl.DataFrame:
    """One row per group: by, group, RESULT (quantity hazard_ratio_to_rest), own columns; chi2 and p_value are of all groups.

    `groups`: the column that is compared; without it, or where it has one value, the reason is one_group. Raises ValueError
    for what `check` refuses.
    """
    level = confidence(level)
    if groups != "group":
        columns(lifetimes, groups, "groups")
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, level, groups))


def _group(rows: pl.DataFrame, level: float, name: str) -> pl.DataFrame:
    alike = {"quantity": "hazard_ratio_to_rest", "confidence_level": level, "method": "log", "assumptions": ASSUMPTIONS}
    words = rows[name].cast(pl.String) if name in rows.columns else pl.repeat(None, len(rows), dtype=pl.String, eager=True)
    named = words.unique().sort()
    reason = wrong(rows) or ("one_group" if len(named) == 1 else None)
    if reason is not None:
        return results([{**alike, **totals(rows), "reason": reason}], FRONT, OWN)
    parts = [rows.filter(words.eq_missing(word)) for word in named]
    observed, expected, covariance = _counted(parts)
    test = _test(observed - expected, covariance)
    z = NormalDist().inv_cdf((1 + level) / 2)
    found = []
    for word, part, e in zip(named, parts, expected, strict=True):
        row = {**alike, **totals(part), **test, "group": word, "n_units": part["unit"].n_unique(), "expected": e}
        found.append(row | _ratio(rows, words.eq_missing(word).to_numpy(), z))
    return results(found, FRONT, OWN)


def _ratio(rows: pl.DataFrame, inside: npt.NDArray[np.bool_], z: float) -> dict[str, float | str]:
    """The hazard of the rows inside against the others, with limits; or a reason."""
    failed = rows["event"].to_numpy()
    share = failed[inside].sum() / failed.sum()
    if share in (0, 1):
        return {"reason": "no_failures" if share == 0 else "no_other_failures"}
    spans = rows["entry_h"].to_numpy(), rows["exit_h"].to_numpy()
    x = inside[:, None] - inside.mean()
    fit = maximise(risk_sets(x, spans, failed, np.zeros(len(rows), np.int64), is_efron=True))
    if isinstance(fit, str):
        return {"reason": fit}
    b, error = float(fit.coefficients[0]), math.sqrt(float(fit.covariance[0, 0]))
    powers = {"estimate": b, "low": b - z * error, "high": b + z * error, "min_detectable_ratio": POWER_Z * error}
    return {name: bounded_exp(power) for name, power in powers.items()}


def _counted(parts: list[pl.DataFrame]) -> tuple[Floats, Floats, Floats]:
    """Failures of each group, those expected, and the covariance of their difference."""
    arrays = [[part[name].to_numpy() for name in ("entry_h", "exit_h", "event")] for part in parts]
    times = np.unique(np.concatenate([exit_[failed] for _, exit_, failed in arrays]))
    n_of = np.array([at_risk(entry, exit_, times) for entry, exit_, _ in arrays], dtype=np.float64)
    d_of = np.array([np.bincount(np.searchsorted(times, exit_[failed]), minlength=len(times)) for _, exit_, failed in arrays])
    n, d = n_of.sum(axis=0), d_of.sum(axis=0)
    share = n_of / n
    weight = d * (n - d) / np.maximum(n - 1, 1)
    covariance: Floats = np.diag(share @ weight) - (share * weight) @ share.T
    return d_of.sum(axis=1).astype(np.float64), share @ d, covariance


def _test(difference: Floats, covariance: Floats) -> dict[str, float | int | None]:
    """chi2 on as many degrees as the covariance has directions."""
    from scipy.stats import chi2

    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if degrees == 0:
        return {"chi2": None, "degrees": 0, "p_value": None}
    statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return {"chi2": statistic, "degrees": degrees, "p_value": float(chi2.sf(statistic, degrees))}


MODEL = Model("log-rank", "lifetimes", log_rank, "log-rank test with late entry, and the hazard of each group against the rest")
