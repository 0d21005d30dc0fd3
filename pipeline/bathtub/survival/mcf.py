"""Mean cumulative function: failures per unit by time, for units that are repaired and fail again.

M(t) = Σ_{t_j <= t} d_j/n_j with d_j failures among n_j units under observation. Variance over units, which may differ:
Σ_i [Σ_{t_j <= t} (d_ij - (d_j/n_j) Y_ij)/n_j]², Y_ij = 1 while unit i is observed; limits M exp(±z se/M). Hours run on one clock
for all units, of the calendar or of age. A unit may be out of observation between spells, as it is during repair.

Where rates of units differ as Gamma of shape 0.65, the limits of 100 to 200 units hold the truth 92 to 93 times in a hundred for
a nominal 95 (bench_coverage.py).

The inner sums are carried per unit, their squares along the hours, so that the cost is that of a sort.

Refused (reason): no_units, no_failures, overlapping_intervals, one_unit (no spread between units), and every time after
one at which no unit was observed: risk_set_emptied. Where the spread is 0 (all units fail at once) there are no limits.

min_detectable_ratio: exp((z(0.975) + z(0.8)) sqrt(2) se/M), the ratio to a group that is as large and spreads as much.
Assumes that entry and end of observation tell nothing of failure. References: Nelson 2003; Lawless & Nadeau 1995.
"""

from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, arrange, confidence
from bathtub.survival._groups import POWER_Z, Names, at_risk, emptied_at, per_group, results, totals, wrong

Floats = npt.NDArray[np.float64]

FRONT = {"time_h": pl.Float64()}
OWN = {"n_at_risk": pl.Int64(), "n_failed": pl.Int64(), "standard_error": pl.Float64()}
ASSUMPTIONS = "entry and end of observation tell nothing of failure; limits allow for units that differ"


def mcf(lifetimes: pl.DataFrame, level: float = 0.95, by: Names = ()) -> pl.DataFrame:
    """One row per group of `by` and distinct failure time: by, time_h, RESULT (quantity failures_per_unit), own columns.

    `events` and `exposure_h`: of the group. A refused group is one row with a null time_h. Raises ValueError for what
    `check` refuses.
    """
    level = confidence(level)
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, level))


def _group(group: pl.DataFrame, level: float) -> pl.DataFrame:
    alike = {"quantity": "failures_per_unit", "confidence_level": level, "method": "log", "assumptions": ASSUMPTIONS}
    alike |= totals(group)
    reason = wrong(group, repairs=True, ages=False) or ("one_unit" if group["unit"].n_unique() == 1 else None)
    if reason is not None:
        return results([{**alike, "reason": reason}], FRONT, OWN)
    group = group.sort("unit", "entry_h")
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    times, n_failed = np.unique(exit_[failed], return_counts=True)
    n = at_risk(entry, exit_, times)
    mean = np.cumsum(n_failed / n)
    error = np.sqrt(np.maximum(_variance(group, times, n_failed, n), 0.0))
    error[error < 1e-9 * mean] = np.nan
    beyond = times > emptied_at(entry, exit_)
    factor = np.exp(NormalDist().inv_cdf((1 + level) / 2) * error / mean)
    numbers = {"estimate": mean, "low": mean / factor, "high": mean * factor, "standard_error": error}
    numbers = {name: np.where(beyond, np.nan, values) for name, values in numbers.items()}
    detectable = np.where(beyond, np.nan, np.exp(POWER_Z * np.sqrt(2) * error / mean))
    frame = pl.DataFrame({"time_h": times, "n_at_risk": n, "n_failed": n_failed, "min_detectable_ratio": detectable, **numbers})
    reasons = pl.when(pl.Series(beyond)).then(pl.lit("risk_set_emptied")).alias("reason")
    return arrange(frame.with_columns(reasons, **{name: pl.lit(value) for name, value in alike.items()}), list(FRONT), OWN)


def _variance(group: pl.DataFrame, times: Floats, n_failed: npt.NDArray[np.int64], n: npt.NDArray[np.int64]) -> Floats:
    """Over units at each time. With G(t) = Σ d_j/n_j², a unit's inner sum is a constant, less G(t) while it is observed.

    `group` in order of unit and entry.
    """
    steps = np.concatenate([[0.0], np.cumsum(n_failed / n.astype(np.float64) ** 2)])
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    first, last = np.searchsorted(times, entry, side="right"), np.searchsorted(times, exit_, side="right")
    gained = np.where(failed, 1 / n[np.maximum(last, 1) - 1], 0.0)
    change = steps[first] - steps[last] + gained
    after = pl.DataFrame({"unit": group["unit"], "change": change}).select(pl.col("change").cum_sum().over("unit"))
    ended = after["change"].to_numpy()
    begun = ended - change
    observed, until = begun + steps[first], np.searchsorted(times, exit_)

    def along(at_entry: Floats, at_exit: Floats) -> Floats:
        """The running sum at each time of what spells add at their entry and at their exit."""
        changes = np.bincount(first, at_entry, len(times) + 1) + np.bincount(until, at_exit, len(times) + 1)
        return np.cumsum(changes)[:-1]

    one, passed = np.ones(len(entry)), steps[1:]
    found: Floats = along(observed**2 - begun**2, ended**2 - observed**2) - 2 * passed * along(observed, -observed)
    return found + passed**2 * along(one, -one)


MODEL = Model("mcf", "lifetimes", mcf, "mean cumulative function of repaired units, limits by the spread between units")
