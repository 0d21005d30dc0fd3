"""Regression of counts over cells: Poisson and negative binomial (NB2), log link, the logarithm of the exposure as offset.

The variance of a count of mean m is m + alpha m^2; theta = 1/alpha, infinite for Poisson. Newton's steps on the expected
information, halved until they help; alpha by the profile of the likelihood. `conditional` leaves out what the
cells of a risk set have in common: Poisson with an intercept per set, which is the partial likelihood of Cox (ties by Breslow).
References: McCullagh & Nelder 1989, chapter 6; Lawless 1987, Canadian Journal of Statistics 15: 209.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Likelihood = Callable[[Floats], tuple[float, Floats, Floats]]
"""Value, slope and information at these coefficients."""

MOST_STEPS, MOST_HALVINGS, STILL = 60, 30, 1e-12
SINGULAR = 1e-9  # smallest eigenvalue of the scaled information that is more than rounding
WORN = 1e-6  # share of the information left, in some direction, below which the likelihood is taken to rise without end
LOG_ALPHA = (math.log(1e-7), math.log(1e4))
DOUBTED = 0.2  # p value of no overdispersion below which it is allowed for: missing it costs more than allowing for none


@dataclass(frozen=True)
class Cells:
    """`x`: n by p, the first column ones unless an intercept is left out; `counts`, `hours`: n, hours above 0."""

    x: Floats
    counts: Floats
    hours: Floats

    @property
    def start(self) -> Floats:
        """Coefficients of one rate for all."""
        at = np.zeros(self.x.shape[1])
        at[0] = math.log(self.counts.sum() / self.hours.sum())
        return at

    def without(self, terms: slice) -> "Cells":
        """The same cells without some of the terms."""
        return Cells(np.delete(self.x, terms, axis=1), self.counts, self.hours)


@dataclass(frozen=True)
class Fit:
    """Coefficients with their covariance at the peak. `n_free` is null where errors need no allowance for it."""

    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    alpha: float = 0.0
    n_free: int | None = None
    overdispersion_p: float | None = None

    @property
    def theta(self) -> float | None:
        """Size of the negative binomial; null for Poisson."""
        return 1 / self.alpha if self.alpha else None

    @cached_property
    def errors(self) -> Floats:
        """Standard errors of the coefficients."""
        return np.sqrt(np.diag(self.covariance))

    def quantile(self, level: float) -> float:
        """Standard errors on either side of a coefficient: Student's where the spread was estimated."""
        from scipy.stats import t

        p = (1 + level) / 2
        return NormalDist().inv_cdf(p) if self.n_free is None else float(t.ppf(p, self.n_free))

    def two_sided_p(self, n_errors: float) -> float:
        """P of a coefficient so many standard errors from 0, by the same distribution."""
        from scipy.stats import t

        return 2 * (NormalDist().cdf(-abs(n_errors)) if self.n_free is None else float(t.sf(abs(n_errors), self.n_free)))


def poisson(cells: Cells) -> Fit | str:
    """The Poisson fit, or why there is none: no_contrast, monotone_likelihood."""
    return newton(partial(_likelihood, cells, 0.0), cells.start)


def negative_binomial(cells: Cells, plain: Fit) -> Fit:
    """The fit with the alpha of the greatest likelihood; `plain`, the Poisson fit, where that is 0."""
    from scipy.optimize import minimize_scalar

    mean = cells.hours * np.exp(cells.x @ plain.coefficients)
    if ((cells.counts - mean) ** 2 - cells.counts).sum() <= 0:
        return plain

    def at(log_alpha: float) -> Fit | str:
        return newton(partial(_likelihood, cells, math.exp(log_alpha)), plain.coefficients)

    def lost(log_alpha: float) -> float:
        found = at(log_alpha)
        return 1 - plain.log_likelihood if isinstance(found, str) else -found.log_likelihood

    best = minimize_scalar(lost, bounds=LOG_ALPHA, method="bounded", options={"xatol": 1e-6})
    found = at(best.x)
    if isinstance(found, str) or found.log_likelihood <= plain.log_likelihood:
        return plain
    return Fit(found.coefficients, found.covariance, found.log_likelihood, math.exp(best.x))


def overdispersion_p(plain: Fit, wider: Fit) -> float:
    """Likelihood-ratio test of alpha = 0, which lies at the border: half of chi2 with one degree. Lawless 1987."""
    return 0.5 * math.erfc(math.sqrt(max(wider.log_likelihood - plain.log_likelihood, 0.0)))


def fitted(cells: Cells) -> Fit | str:
    """Poisson where the cells are not spread wider, else negative binomial with errors for the degrees of freedom it used."""
    plain = poisson(cells)
    n, n_terms = cells.x.shape
    if isinstance(plain, str) or n <= n_terms:
        return plain
    wider = negative_binomial(cells, plain)
    p = overdispersion_p(plain, wider)
    if wider is plain or p >= DOUBTED:
        return Fit(plain.coefficients, plain.covariance, plain.log_likelihood, overdispersion_p=p)
    n_free = n - n_terms
    return Fit(wider.coefficients, wider.covariance * n / n_free, wider.log_likelihood, wider.alpha, n_free, p)


def likelihood_ratio_p(cells: Cells, found: Fit, terms: slice) -> float | str:
    """P of no effect of these terms, or a reason: chi2 under Poisson, else by F, theta estimated in both."""
    from scipy.stats import chi2, f

    smaller, n_terms = cells.without(terms), terms.stop - terms.start
    plain = poisson(smaller)
    if isinstance(plain, str):
        return plain
    if found.n_free is None:
        return float(chi2.sf(max(2 * (found.log_likelihood - plain.log_likelihood), 0.0), n_terms))
    ratio = max(2 * (found.log_likelihood - negative_binomial(smaller, plain).log_likelihood), 0.0)
    return float(f.sf(ratio / n_terms * found.n_free / len(cells.counts), n_terms, found.n_free))


def conditional(cells: Cells, sets: Ints) -> Fit | str:
    """Poisson with an intercept per risk set, which is not fitted: `x` has no column of ones. `sets`: 0, 1, … of each cell."""
    return newton(partial(_conditional, cells, sets), np.zeros(cells.x.shape[1]))


def newton(likelihood: Likelihood, start: Floats) -> Fit | str:
    """The peak, or why there is none."""
    at = start
    value, slope, information = likelihood(at)
    whole = information
    if _is_singular(information):
        return "no_contrast"
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(information, slope)
        is_last = float(slope @ step) < STILL
        for _ in range(MOST_HALVINGS):
            found = likelihood(at + step)
            if found[0] >= value - 1e-10 * abs(value):
                break
            step = step / 2
        at = at + step
        value, slope, information = found
        if _is_worn(information, whole):
            return "monotone_likelihood"
        if is_last:
            return Fit(at, np.asarray(np.linalg.inv(information), dtype=np.float64), value)
    return "monotone_likelihood"


def _likelihood(cells: Cells, alpha: float, at: Floats) -> tuple[float, Floats, Floats]:
    from scipy.special import gammaln, xlogy

    log_mean = np.clip(cells.x @ at + np.log(cells.hours), -600, 600)
    mean = np.exp(log_mean)
    wide = 1 + alpha * mean
    value = cells.counts @ log_mean - gammaln(cells.counts + 1).sum()
    if alpha:
        value -= xlogy(cells.counts + 1 / alpha, wide).sum()
        value += (gammaln(cells.counts + 1 / alpha) - gammaln(1 / alpha) + cells.counts * math.log(alpha)).sum()
    else:
        value -= mean.sum()
    slope = cells.x.T @ ((cells.counts - mean) / wide)
    return float(value), slope, (cells.x * (mean / wide)[:, None]).T @ cells.x


def _conditional(cells: Cells, sets: Ints, at: Floats) -> tuple[float, Floats, Floats]:
    def summed(values: Floats) -> Floats:
        return np.array([np.bincount(sets, column) for column in values.T]).T

    log_weight = np.clip(cells.x @ at + np.log(cells.hours), -600, 600)
    weight = np.exp(log_weight)
    deaths, total = np.bincount(sets, cells.counts), np.bincount(sets, weight)
    mean = summed(cells.x * weight[:, None]) / total[:, None]
    value = cells.counts @ log_weight - deaths @ np.log(total)
    slope = cells.counts @ cells.x - deaths @ mean
    share = weight * (deaths / total)[sets]
    information = (cells.x * share[:, None]).T @ cells.x - (mean * deaths[:, None]).T @ mean
    return float(value), slope, information


def _is_worn(information: Floats, whole: Floats) -> bool:
    from scipy.linalg import eigh

    return not np.isfinite(information).all() or bool(eigh(information, whole, eigvals_only=True)[0] < WORN)


def _is_singular(information: Floats) -> bool:
    if not (np.diag(information) > 0).all():
        return True
    scale = np.sqrt(np.diag(information))
    return bool(np.linalg.eigvalsh(information / np.outer(scale, scale))[0] < SINGULAR)
