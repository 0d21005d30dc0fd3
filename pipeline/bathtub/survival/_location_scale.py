"""Maximum likelihood of log lifetimes: log t = m + x b + s e, for any mix of late entry and right or interval censoring.

The logarithm of a row's likelihood, with z = (log t - m - x b)/s and the family's survival S and density f of e:
failed at t: log f(z) - log s - log t; alive at t: log S(z); failed between l and t: log(S(z_l) - S(z_t));
entered at a > 0: -log S(z_a) besides. Gradient and curvature are written out; parameters are (m, b, log s).
References: Klein & Moeschberger 2003, chapters 3 and 12; Meeker & Escobar 1998, chapters 7 and 11.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Function = Callable[[Floats], Floats]
Sums = tuple[float, Floats, Floats]

LOG_SPREADS = (0.0, -1.2, 1.2)  # starts: the likelihood of interval-censored rows can have more than one peak
LARGEST_LOG_SPREAD = 6.0  # a shape above 400 or below 1/400: the likelihood rises without end
STILL = 1e-6  # slope per failure, on scaled parameters, at a peak
FLAT = 1e-6  # curvature per failure, on scaled parameters, below which there is no peak
WIDEST_ERROR = 3.0  # standard error of log s that leaves its limits a factor of 350 on either side: no peak to speak of
MOST_STEPS, MOST_HALVINGS, LONGEST_STEP = 60, 40, 2.0


@dataclass(frozen=True)
class Family:
    """Distribution of e on the log scale. `slope` and `bend` are the first two derivatives of log f."""

    name: str
    log_survival: Function
    log_density: Function
    slope: Function
    bend: Function


def _logistic(z: Floats) -> Floats:
    from scipy.special import expit

    found: Floats = expit(z)
    return found


def _normal_log_survival(z: Floats) -> Floats:
    from scipy.special import log_ndtr

    found: Floats = log_ndtr(-z)
    return found


WEIBULL = Family("weibull", lambda z: -np.exp(z), lambda z: z - np.exp(z), lambda z: 1 - np.exp(z), lambda z: -np.exp(z))
LOGNORMAL = Family(
    "lognormal",
    _normal_log_survival,
    lambda z: -0.5 * z * z - 0.5 * np.log(2 * np.pi),
    lambda z: -z,
    lambda z: np.full_like(z, -1.0),
)
LOG_LOGISTIC = Family(
    "log-logistic",
    lambda z: -np.logaddexp(0, z),
    lambda z: z - 2 * np.logaddexp(0, z),
    lambda z: 1 - 2 * _logistic(z),
    lambda z: -2 * _logistic(z) * _logistic(-z),
)


@dataclass(frozen=True)
class Lives:
    """Rows to fit, in hours. `last_alive`: equal to `exit` where the hour of failure is known. `x`: n by p, no intercept."""

    entry: Floats
    exit: Floats
    last_alive: Floats
    failed: npt.NDArray[np.bool_]
    x: Floats


@dataclass(frozen=True)
class Fit:
    """The peak: parameters (m, b, log s), their covariance, the log-likelihood in hours."""

    parameters: Floats
    covariance: Floats
    log_likelihood: float


def maximise(family: Family, lives: Lives, *, spread_fixed: bool = False) -> Fit | None:
    """The highest peak over several starts; None where none is found. `spread_fixed`: s is 1 (Weibull: the exponential)."""
    scaled, back, centre = _scaled(lives)
    n_failed, n_free = int(lives.failed.sum()), scaled.x.shape[1] + (not spread_fixed)

    def loss(free: Floats) -> Sums:
        with np.errstate(all="ignore"):
            value, slope, bend = _log_likelihood(family, scaled, np.append(free, 0.0) if spread_fixed else free)
        kept = np.nan_to_num(slope[:n_free]), np.nan_to_num(bend[:n_free, :n_free])
        return (-value / n_failed if np.isfinite(value) else np.inf), -kept[0] / n_failed, -kept[1] / n_failed

    peaks = []
    for log_spread in LOG_SPREADS[: 1 if spread_fixed else None]:
        start = np.zeros(n_free)
        if not spread_fixed:
            start[-1] = log_spread
        start[0] = _first(scaled, np.exp(log_spread))
        with np.errstate(all="ignore"):  # steps too far have no value, and are halved
            peaks.append(_descend(loss, start))
    best = min(peaks, key=lambda peak: loss(peak)[0])
    value, slope, curvature = loss(best)
    steep = np.isfinite(value) and np.linalg.norm(slope) < STILL and np.linalg.eigvalsh(curvature)[0] > FLAT
    if not steep or (not spread_fixed and abs(best[-1]) > LARGEST_LOG_SPREAD):
        return None
    covariance = np.linalg.inv(curvature) / n_failed
    if not spread_fixed and covariance[-1, -1] > WIDEST_ERROR**2:
        return None
    back, shift = back[:n_free, :n_free], np.eye(n_free)[0] * centre
    in_hours = -value * n_failed - float(np.log(lives.exit[_exact(lives)]).sum())
    return Fit(back @ best + shift, back @ covariance @ back.T, in_hours)


def _descend(loss: Callable[[Floats], Sums], at: Floats) -> Floats:
    """The lowest point by Newton's steps: short ones, downhill where the curvature is not, halved until they help."""
    value, slope, curvature = loss(at)
    for _ in range(MOST_STEPS):
        sizes, directions = np.linalg.eigh(curvature)
        step = -directions @ ((directions.T @ slope) / np.maximum(np.abs(sizes), 1e-6))
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        for _ in range(MOST_HALVINGS):
            found = loss(at + step)
            if found[0] <= value:
                break
            step = step / 2
        else:
            return at
        at = at + step
        is_still = np.linalg.norm(found[1]) < STILL / 100 or value - found[0] == 0.0
        value, slope, curvature = found
        if is_still:
            return at
    return at


def _exact(lives: Lives) -> npt.NDArray[np.bool_]:
    known: npt.NDArray[np.bool_] = lives.failed & (lives.last_alive == lives.exit)
    return known


def _scaled(lives: Lives) -> tuple[Lives, Floats, float]:
    """Rows with a mean log time of 0 and covariates of mean 0 and spread 1 behind an intercept; the way back; the mean."""
    centre = float(np.log(lives.exit).mean())
    middle, width = lives.x.mean(axis=0), lives.x.std(axis=0)
    x = np.column_stack([np.ones(len(lives.exit)), (lives.x - middle) / width])
    back = np.diag([1.0, *(1 / width), 1.0])
    back[0, 1:-1] = -middle / width
    entry, exit_, last_alive = (times * np.exp(-centre) for times in (lives.entry, lives.exit, lives.last_alive))
    return Lives(entry, exit_, last_alive, lives.failed, x), back, centre


def _first(scaled: Lives, spread: float) -> float:
    """The m at which a Weibull of this spread has its peak: a start for every family."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float((scaled.exit ** (1 / spread) - scaled.entry ** (1 / spread)).sum())
    return spread * float(np.log(np.clip(np.nan_to_num(total), 1e-300, 1e300) / scaled.failed.sum()))


def _log_likelihood(family: Family, lives: Lives, parameters: Floats) -> Sums:
    """Its sum over the rows, per unit of log time; gradient; curvature."""
    exact, entered = _exact(lives), lives.entry > 0

    def at(rows: npt.NDArray[np.bool_], times: Floats) -> tuple[Floats, Floats]:
        return _standard(lives.x[rows], times[rows], parameters)

    parts = [(_failed(family, *at(exact, lives.exit), float(parameters[-1])), 1)]
    if not lives.failed.all():
        parts.append((_survived(family, *at(~lives.failed, lives.exit)), 1))
    if entered.any():
        parts.append((_survived(family, *at(entered, lives.entry)), -1))
    if (lives.failed & ~exact).any():
        parts.append((_between(family, lives, lives.failed & ~exact, parameters), 1))
    return tuple(sum(sign * part[order] for part, sign in parts) for order in range(3))  # type: ignore[return-value]


def _standard(x: Floats, times: Floats, parameters: Floats) -> tuple[Floats, Floats]:
    """The standardised log times, and their derivatives by (m, b, log s)."""
    spread = np.exp(parameters[-1])
    z = (np.log(times) - x @ parameters[:-1]) / spread
    return z, np.column_stack([-x / spread, -z])


def _chain(z: Floats, jacobian: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Gradient and curvature of a sum of functions of z, from their first and second derivatives by z."""
    gradient, curvature = first @ jacobian, (jacobian * second[:, None]).T @ jacobian
    cross = -first @ jacobian[:, :-1]
    curvature[:-1, -1] += cross
    curvature[-1, :-1] += cross
    curvature[-1, -1] += first @ z
    return gradient, curvature


def _survived(family: Family, z: Floats, jacobian: Floats) -> Sums:
    survival, hazard = family.log_survival(z), np.exp(family.log_density(z) - family.log_survival(z))
    return float(survival.sum()), *_chain(z, jacobian, -hazard, -hazard * (family.slope(z) + hazard))


def _failed(family: Family, z: Floats, jacobian: Floats, log_spread: float) -> Sums:
    gradient, curvature = _chain(z, jacobian, family.slope(z), family.bend(z))
    gradient[-1] -= len(z)
    return float(family.log_density(z).sum() - len(z) * log_spread), gradient, curvature


def _between(family: Family, lives: Lives, rows: npt.NDArray[np.bool_], parameters: Floats) -> Sums:
    """Failures found at inspection: log(S(z_l) - S(z_r)), with S(z_l) = 1 where a unit was never seen alive."""
    x, seen = lives.x[rows], lives.last_alive[rows] > 0
    left, by_left = _standard(x, np.where(seen, lives.last_alive[rows], 1.0), parameters)
    right, by_right = _standard(x, lives.exit[rows], parameters)
    upper, lower = np.where(seen, family.log_survival(left), 0.0), family.log_survival(right)
    log_chance = upper + np.log(-np.expm1(lower - upper))
    at_left = np.where(seen, -np.exp(family.log_density(left) - log_chance), 0.0)
    at_right = np.exp(family.log_density(right) - log_chance)
    pieces = [
        _chain(z, jacobian, at, at * (family.slope(z) - at))
        for z, jacobian, at in ((left, by_left, at_left), (right, by_right, at_right))
    ]
    mixed = (by_left * (-at_left * at_right)[:, None]).T @ by_right
    curvature = pieces[0][1] + pieces[1][1] + mixed + mixed.T
    return float(log_chance.sum()), pieces[0][0] + pieces[1][0], curvature
