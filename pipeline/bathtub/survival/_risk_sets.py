"""Partial likelihood over risk sets of (entry, exit] rows: strata, ties by Efron or Breslow, errors clustered by unit.

Rows that cover no failure time are dropped first, which changes nothing. Each other row is at risk at a run of failure
times, so that every sum over risk sets is a running sum of what rows add at their first time and take away after their last.
References: Efron 1977; Therneau & Grambsch 2000, chapters 3, 6 (tests of proportionality) and 7 (clusters).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_STEPS, MOST_HALVINGS, STILL = 50, 30, 1e-10
SINGULAR = 1e-9  # smallest eigenvalue of the scaled information that is more than rounding
WORN = 1e-6  # share of the information left, in some direction, below which the likelihood is taken to rise without end


@dataclass(frozen=True)
class RiskSets:
    """Rows: covariates `x` (n by p, of mean 0), first and one past the last failure time at risk, the one failed at (or -1).

    Failure times: in order of stratum and time, one index over all strata.
    """

    x: Floats
    first: Ints
    past: Ints
    fails_at: Ints
    kept: Ints  # row numbers in the table
    times: Floats
    stratum_of: Ints
    is_efron: bool

    @cached_property
    def deaths(self) -> Ints:
        """Rows that fail, in order of their time."""
        rows = np.flatnonzero(self.fails_at >= 0)
        return rows[np.argsort(self.fails_at[rows], kind="stable")]

    @cached_property
    def at(self) -> Ints:
        """The failure time of each death."""
        return self.fails_at[self.deaths]

    @cached_property
    def fraction(self) -> Floats:
        """How much of those who fail together has left the risk set before each death: 0, 1/d, 2/d …; 0 for Breslow."""
        counts = np.bincount(self.at, minlength=len(self.times))
        before = np.arange(len(self.at)) - np.concatenate([[0], np.cumsum(counts)[:-1]])[self.at]
        found: Floats = before / counts[self.at] if self.is_efron else np.zeros(len(self.at))
        return found

    def at_risk(self, values: Floats) -> Floats:
        """Sum of the values of the rows at risk at each failure time. Shapes: n by any, to times by the same."""
        changes = _summed(values, self.first, len(self.times) + 1) - _summed(values, self.past, len(self.times) + 1)
        return np.cumsum(changes, axis=0)[:-1]

    def failing(self, values: Floats) -> Floats:
        """Sum of the values of the rows that fail at each failure time."""
        return _summed(values[self.deaths], self.at, len(self.times))


def _summed(values: Floats, at: Ints, n_sums: int) -> Floats:
    """Sum of the values at each index. Shapes: n by any, n, to n_sums by the same."""
    flat = values.reshape(len(values), -1)
    found = np.array([np.bincount(at, column, n_sums) for column in flat.T], dtype=np.float64).T
    return found.reshape(n_sums, *values.shape[1:])


def risk_sets(
    x: Floats, spans: tuple[Floats, Floats], failed: npt.NDArray[np.bool_], strata: Ints, *, is_efron: bool
) -> RiskSets:
    """The rows that cover a failure time. `spans`: entry and exit of each row; `strata`: 0, 1, …."""
    entry, exit_ = spans
    first, past, fails_at = (np.zeros(len(entry), np.int64) for _ in range(3))
    times, stratum_of = [], []
    n_times = 0
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        found = np.unique(exit_[rows][failed[rows]])
        first[rows] = n_times + np.searchsorted(found, entry[rows], side="right")
        past[rows] = n_times + np.searchsorted(found, exit_[rows], side="right")
        times.append(found)
        stratum_of.append(np.full(len(found), stratum))
        n_times += len(found)
    fails_at = np.where(failed, past - 1, -1)
    kept = np.flatnonzero(past > first)
    every = np.concatenate(times), np.concatenate(stratum_of)
    return RiskSets(x[kept], first[kept], past[kept], fails_at[kept], kept, *every, is_efron)


@dataclass(frozen=True)
class Terms:
    """At each death: sum of hazards at risk, mean of the covariates over it (deaths by p), their covariance (by p by p)."""

    total: Floats
    mean: Floats
    spread: Floats


@dataclass(frozen=True)
class CoxFit:
    """Coefficients, information, log-likelihood there and at 0."""

    sets: RiskSets
    coefficients: Floats
    information: Floats
    log_likelihood: float
    log_likelihood_null: float

    @cached_property
    def covariance(self) -> Floats:
        """From the information."""
        return np.asarray(np.linalg.inv(self.information), dtype=np.float64)

    @cached_property
    def terms(self) -> Terms:
        """At the peak."""
        return terms(self.sets, self.coefficients)


def hazards(sets: RiskSets, coefficients: Floats) -> Floats:
    """exp(x b) of each row."""
    found: Floats = np.exp(np.clip(sets.x @ coefficients, -500, 500))
    return found


def terms(sets: RiskSets, coefficients: Floats) -> Terms:
    """The sums that the likelihood and all that follows from it are made of."""
    ratio = hazards(sets, coefficients)
    pair = (sets.x[:, :, None] * sets.x[:, None, :]) * ratio[:, None, None]
    found: list[Floats] = []
    for values in (ratio, sets.x * ratio[:, None], pair):
        away = sets.fraction.reshape(-1, *[1] * (values.ndim - 1))
        found.append(sets.at_risk(values)[sets.at] - away * sets.failing(values)[sets.at])
    total, first, second = found
    mean: Floats = first / total[:, None]
    return Terms(total, mean, second / total[:, None, None] - mean[:, :, None] * mean[:, None, :])


def maximise(sets: RiskSets) -> CoxFit | str:
    """The peak by Newton's steps, halved until they help; or why there is none.

    no_contrast: covariates do not vary, or not apart from each other, among those at risk. monotone_likelihood.
    """
    n_covariates = sets.x.shape[1]
    at = np.zeros(n_covariates)
    value, slope, information = _likelihood(sets, at)
    null, whole = value, information
    spread = np.sqrt(np.maximum(np.diag(information), 0) / len(sets.at))
    if (spread <= SINGULAR * np.maximum(np.abs(sets.x).max(axis=0), 1e-300)).any() or _is_singular(information):
        return "no_contrast"
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(information, slope)
        is_last = float(slope @ step) < STILL
        for _ in range(MOST_HALVINGS):
            found = _likelihood(sets, at + step)
            if found[0] >= value - 1e-9 * abs(value):
                break
            step = step / 2
        at = at + step
        value, slope, information = found
        if _is_worn(information, whole):
            return "monotone_likelihood"
        if is_last:
            return CoxFit(sets, at, information, value, null)
    return "monotone_likelihood"


def _is_worn(information: Floats, whole: Floats) -> bool:
    """Next to nothing is left, in some direction, of the information that there was where no covariate has an effect."""
    from scipy.linalg import eigh

    return not np.isfinite(information).all() or bool(eigh(information, whole, eigvals_only=True)[0] < WORN)


def _is_singular(information: Floats) -> bool:
    if not (np.diag(information) > 0).all():
        return True
    scale = np.sqrt(np.diag(information))
    return bool(np.linalg.eigvalsh(information / np.outer(scale, scale))[0] < SINGULAR)


def _likelihood(sets: RiskSets, at: Floats) -> tuple[float, Floats, Floats]:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a step too far has no value, and is halved
        found = terms(sets, at)
        value = float((sets.x[sets.deaths] @ at).sum() - np.log(found.total).sum())
    return value, (sets.x[sets.deaths] - found.mean).sum(axis=0), found.spread.sum(axis=0)


def score_residuals(fit: CoxFit) -> Floats:
    """What each kept row adds to the slope at the peak, late entry and ties honoured. Shape: n by p."""
    sets, found = fit.sets, fit.terms
    share = 1 / found.total
    by_time = np.column_stack([share, found.mean * share[:, None]])
    passed = np.cumsum(_summed(by_time, sets.at + 1, len(sets.times) + 1), axis=0)
    gone = passed[sets.past] - passed[sets.first]
    ratio = hazards(sets, fit.coefficients)
    residuals = -ratio[:, None] * (sets.x * gone[:, :1] - gone[:, 1:])
    counts = np.bincount(sets.at, minlength=len(sets.times))
    means, spared, spared_share = (
        _summed(values, sets.at, len(sets.times))
        for values in (
            found.mean / counts[sets.at][:, None],
            found.mean * (share * sets.fraction)[:, None],
            share * sets.fraction,
        )
    )
    own, died = sets.x[sets.deaths], sets.deaths
    residuals[died] += own - means[sets.at]
    residuals[died] += ratio[died][:, None] * (own * spared_share[sets.at][:, None] - spared[sets.at])
    return residuals


def clustered_covariance(fit: CoxFit, units: Ints) -> Floats:
    """Sandwich over units, which may have several rows and failures. `units`: 0, 1, … of each row of the table."""
    influence = _summed(score_residuals(fit), units[fit.sets.kept], int(units.max()) + 1) @ fit.covariance
    found: Floats = influence.T @ influence
    return found


def proportionality(fit: CoxFit, clock: Floats) -> tuple[Floats, float]:
    """Score tests that each coefficient, and all together, do not change with `clock`, one value per death.

    chi2 on 1 and p degrees; NaN where the clock cannot be told from no change.
    """
    shift = clock - clock.mean()
    slope = ((fit.sets.x[fit.sets.deaths] - fit.terms.mean) * shift[:, None]).sum(axis=0)
    cross, own = ((fit.terms.spread * shift[:, None, None] ** k).sum(axis=0) for k in (1, 2))
    left = own - cross @ fit.covariance @ cross
    told = np.diag(left) > SINGULAR * np.diag(own)
    each = np.where(told, slope**2 / np.where(told, np.diag(left), 1.0), np.nan)
    return each, float(slope @ np.linalg.solve(left, slope)) if told.all() and not _is_singular(left) else np.nan


def baseline(fit: CoxFit, at_h: float, stratum: int) -> tuple[float, float]:
    """Cumulative hazard to at_h of a unit at the mean of the covariates (x = 0), by Breslow's sum, and its standard error."""
    upto = (fit.sets.times[fit.sets.at] <= at_h) & (fit.sets.stratum_of[fit.sets.at] == stratum)
    whole = terms(replace(fit.sets, is_efron=False), fit.coefficients)
    share = 1 / whole.total[upto]
    drift = (whole.mean[upto] * share[:, None]).sum(axis=0)
    return float(share.sum()), float(np.sqrt((share**2).sum() + drift @ fit.covariance @ drift))
