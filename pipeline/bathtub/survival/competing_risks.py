"""Share of units that have failed of each cause by an age (Aalen-Johansen), exact with ties and late entry.

At each distinct failure time t_j, of n_j at risk d_j fail, d_jk of cause k; S_j = Π(1 - d_i/n_i), and
F_k(t) = Σ_{t_j <= t} S_{j-1} d_jk/n_j. The shares of all causes and S add up to 1; one minus the survival of one cause
with the others as censoring is larger, and no share of anything. Two sums, no random breaking of ties.

Variance (Greenwood type): Σ [(F_k(t) - F_k(t_j))² d_j/(n_j(n_j - d_j)) + S²_{j-1} d_jk(n_j - d_jk)/n_j³
- 2 (F_k(t) - F_k(t_j)) S_{j-1} d_jk/n_j²], limits F^exp(±z se/(F log F)). Intervals are half-open (entry, exit].

Failures of unknown cause (null) are a cause of their own: the shares of the others are then lower limits.
`pulled`: causes that mean the unit was taken out before it failed, on suspicion or not. estimate is then the share if none
of them would have failed, `if_pulled_failed` if all would have, at once and of this cause: the truth lies between.

Refused (reason): no_units, no_failures, several_failures_per_unit, goes_on_after_failure, overlapping_intervals,
age_unknown; times beyond which no one was left at risk, or none survived, while others live on: risk_set_emptied.

min_detectable_ratio: the hazard ratio that two equal groups with as many failures of the cause show (see kaplan_meier).
References: Aalen & Johansen 1978; Kalbfleisch & Prentice 2002, section 8.2; Marubini & Valsecchi 1995, section 10.2.
"""

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._groups import POWER_Z, Names, at_risk, emptied_at, per_group, results, totals, wrong

Floats = npt.NDArray[np.float64]

FRONT = {"cause": pl.String(), "time_h": pl.Float64()}
OWN = {
    "n_at_risk": pl.Int64(),
    "n_failed": pl.Int64(),
    "standard_error": pl.Float64(),
    "survival_ratio": pl.Float64(),
    "if_pulled_failed": pl.Float64(),
}


def competing_risks(lifetimes: pl.DataFrame, level: float = 0.95, by: Names = (), pulled: Names = ()) -> pl.DataFrame:
    """One row per group of `by`, cause and time at which units fail of it: by, cause, time_h, RESULT, own columns.

    quantity incidence_ratio; `survival_ratio` is that of all causes together. A refused group is one row with a null
    cause and time. Raises ValueError for what `check` refuses, and a table without `cause`.
    """
    level, words = confidence(level), [pulled] if isinstance(pulled, str) else list(pulled)
    if "cause" not in lifetimes.columns:
        message = f"column 'cause' is missing; found {', '.join(lifetimes.columns)}"
        raise ValueError(message)
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, level, words))


def _group(group: pl.DataFrame, level: float, pulled: list[str]) -> pl.DataFrame:
    alike = {"quantity": "incidence_ratio", "confidence_level": level, "method": "log-log", **totals(group)}
    alike["assumptions"] = "entry and censoring tell nothing of failure; units of a group alike"
    reason = wrong(group)
    if reason is not None:
        return results([{**alike, "reason": reason}], FRONT, OWN)
    failed = group.filter("event")
    causes = failed["cause"].cast(pl.String)
    steps = _Steps(group)
    counts = {
        cause: steps.counts(failed["exit_h"].to_numpy()[(causes.eq_missing(cause)).to_numpy()]) for cause in causes.unique()
    }
    taken = np.sum([steps.incidence(counts[word]) for word in pulled if word in counts], axis=0) + np.zeros(len(steps.times))
    rows = []
    for cause in sorted(counts, key=lambda word: (word is None, word or "")):
        bound = taken if pulled and cause not in pulled else None
        rows += [{**alike, "cause": cause, **row} for row in _rows(steps, counts[cause], level, bound)]
    return results(rows, FRONT, OWN)


class _Steps:
    """Distinct failure times of a group with units at risk, failures of any cause, and survival before and after."""

    def __init__(self, group: pl.DataFrame) -> None:
        self.entry, self.exit, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
        self.times, self.n_failed = np.unique(self.exit[failed], return_counts=True)
        self.n_at_risk = at_risk(self.entry, self.exit, self.times)
        self.after = np.cumprod(1 - self.n_failed / self.n_at_risk)
        self.before = np.concatenate([[1.0], self.after[:-1]])
        gone = self.times[self.n_failed == self.n_at_risk]
        ended = float(gone[0]) if len(gone) and gone[0] < self.exit.max() else np.inf
        self.beyond = (self.times > emptied_at(self.entry, self.exit)) | (self.times >= ended)

    def counts(self, at: Floats) -> npt.NDArray[np.int64]:
        """Failures at each distinct time out of the hours `at`."""
        return np.bincount(np.searchsorted(self.times, at), minlength=len(self.times))

    def incidence(self, counts: npt.NDArray[np.int64]) -> Floats:
        """F_k at each distinct failure time."""
        return np.cumsum(self.before * counts / self.n_at_risk)

    def variance(self, counts: npt.NDArray[np.int64]) -> Floats:
        """Of F_k at each distinct failure time, by sums that run along: (F(t) - F_j)² is taken apart into its terms."""
        n, d, at = self.n_at_risk.astype(np.float64), self.n_failed, self.incidence(counts)
        left = np.where(n > d, n - d, 1.0)
        spread = np.where(n > d, d / (n * left), 0.0)  # nothing changes F after the last unit at risk
        mixed = self.before * counts / n**2
        own = self.before**2 * counts * (n - counts) / n**3
        sums = [np.cumsum(part) for part in (spread, spread * at, spread * at**2, own, mixed, mixed * at)]
        found: Floats = at**2 * sums[0] - 2 * at * sums[1] + sums[2] + sums[3] - 2 * (at * sums[4] - sums[5])
        return np.maximum(found, 0.0)


def _rows(steps: _Steps, counts: npt.NDArray[np.int64], level: float, taken: Floats | None) -> list[dict[str, Any]]:
    """The rows of one cause, at the times at which units fail of it."""
    z, share, events = NormalDist().inv_cdf((1 + level) / 2), steps.incidence(counts), np.cumsum(counts)
    error = np.sqrt(steps.variance(counts))
    inside = (share > 0) & (share < 1) & (error > 0)
    power = np.exp(z * error[inside] / (share[inside] * np.log(share[inside])))
    low, high = np.full((2, len(share)), np.nan)
    low[inside], high[inside] = share[inside] ** (1 / power), share[inside] ** power
    rows = []
    for j in np.flatnonzero(counts):
        row: dict[str, Any] = {
            "time_h": steps.times[j],
            "n_at_risk": steps.n_at_risk[j],
            "n_failed": counts[j],
            "events": events[j],
        }
        row["min_detectable_ratio"] = np.exp(POWER_Z * np.sqrt(2 / events[j]))
        if steps.beyond[j]:
            rows.append(row | {"reason": "risk_set_emptied"})
            continue
        row |= {"estimate": share[j], "low": low[j], "high": high[j], "standard_error": error[j]}
        rows.append(row | {"survival_ratio": steps.after[j], "if_pulled_failed": None if taken is None else share[j] + taken[j]})
    return rows


MODEL = Model(
    "competing-risks", "lifetimes", competing_risks, "share failed of each cause by age (Aalen-Johansen), exact with ties"
)
