"""Closed forms of planning, under independent failures at a constant rate.

f is the failures per hour of the whole job, M = 1/f its mean time between failures, R the recovery time, w the cost of a
checkpoint, D the work between two checkpoints; hours throughout.

| quantity | formula | source |
|---|---|---|
| MTBF of n instances in series | 1/(n x rate) | superposed Poisson processes |
| useful share of processing time | (D/M)/(exp((D + w)/M) - 1) | Daly 2006, Future Generation Computer Systems 22: 303, eq. 20 |
| best D, exact | M x (1 + W0(-exp(-1 - w/M))) | the root of its derivative; independent of R |
| best D, Daly | sqrt(2wM) x (1 + sqrt(w/2M)/3 + (w/2M)/9) - w below w = 2M, else M | the same paper, eq. 37 |
| best D, Young | sqrt(2wM) | Young 1974, Communications of the ACM 17: 530 |
| useful share of recovery, failures per productive hour | 1/(1 + fR) | nothing fails during a recovery |
| the same, failures per wall-clock hour | 1 - fR; infeasible from fR = 1 | each failure costs a whole R, also during one |
| instances away for a lead time L | Poisson of mean n x rate x L | Palm: only the mean of L matters |
| the same where spares run and fail too | binomial of n + s, each away rate x L/(1 + rate x L) of the time | renewal |

The two readings of a rate agree while fR is small; a recovery that starts anew when it is struck, exp(-fR), lies between them.
The exact interval takes least time at any w/M. Daly's takes within 0.2 % of it at any w/M (most at w/M = 2), Young's within
1 % while w/M is at most 0.16, within 15 % at w/M = 1, and by over a half beyond w/M = 2.3.
"""

import math
from collections.abc import Callable
from typing import Literal

Reading = Literal["productive", "wall_clock"]
READINGS: tuple[Reading, ...] = ("productive", "wall_clock")
MOST_AWAY = 1e7
SERIES_BELOW = 1e-4
"""w/M below which the series is closer to the exact interval than W0 in double precision near its branch point."""


def mtbf_h(rate: float, n_instances: int) -> float:
    """Mean time between failures of so many instances in series, h; infinite at rate 0."""
    failures_per_h = rate * n_instances
    return 1 / failures_per_h if failures_per_h > 0 else math.inf


def exact_h(cost_h: float, mtbf: float) -> float:
    """The work between checkpoints, h, that takes least time on average."""
    if cost_h < SERIES_BELOW * mtbf:
        return daly_h(cost_h, mtbf)
    from scipy.special import lambertw

    return mtbf * (1 + float(lambertw(-math.exp(-1 - cost_h / mtbf)).real))


def daly_h(cost_h: float, mtbf: float) -> float:
    """Daly's higher-order estimate of it, h."""
    if cost_h >= 2 * mtbf:
        return mtbf
    half = cost_h / (2 * mtbf)
    return math.sqrt(2 * cost_h * mtbf) * (1 + math.sqrt(half) / 3 + half / 9) - cost_h


def young_h(cost_h: float, mtbf: float) -> float:
    """Young's first-order estimate of it, h."""
    return math.sqrt(2 * cost_h * mtbf)


def kept_ratio(interval_h: float, cost_h: float, mtbf: float) -> float:
    """Share of processing time, recovery left out, that is work done once: neither checkpoints nor work done again."""
    if math.isinf(interval_h):
        return 1.0
    if math.isinf(mtbf):
        return interval_h / (interval_h + cost_h)
    load = (interval_h + cost_h) / mtbf
    return interval_h / mtbf / math.expm1(load) if load < 700 else 0.0  # noqa: PLR2004 - beyond it exp has no double


def running_ratio(lost: float, reading: Reading) -> float | None:
    """Share of time outside recovery at `lost` = fR; null where recovery never ends."""
    if reading == "productive":
        return 1 / (1 + lost)
    return 1 - lost if lost < 1 else None


def poisson_enough(spares: int, n_instances: int, away_ratio: float) -> float:
    """Chance that no more instances are away than there are spares, which fail only in service; `away_ratio` = rate x L."""
    from scipy.special import pdtr

    return float(pdtr(spares, n_instances * away_ratio))


def binomial_enough(spares: int, n_instances: int, away_ratio: float) -> float:
    """The same where spares run and fail as the rest does."""
    from scipy.special import bdtr

    return float(bdtr(spares, n_instances + spares, away_ratio / (1 + away_ratio)))


def spares_needed(enough: Callable[[int, int, float], float], n_instances: int, away_ratio: float, availability: float) -> int:
    """The fewest spares with which the instances are complete with this chance. Raises ValueError beyond ten million away."""
    if n_instances * away_ratio > MOST_AWAY:
        raise ValueError(f"{n_instances * away_ratio:.3g} instances would be away at once: rate or lead time is wrong")
    high = 1
    while enough(high, n_instances, away_ratio) < availability:
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle, n_instances, away_ratio) >= availability else (middle, high)
    return high
