"""Survival by age with late entry, and log-log limits.

At each distinct failure time t with d failures among n at risk: S = Π(1 - d/n), Greenwood variance
S² Σ d/(n(n-d)), limits exp(-exp(log(-log S) ± z sqrt(Σ d/(n(n-d)))/log S)).

Intervals are half-open (entry, exit]: who enters at a failure time is not at risk at it, who is censored at one is.
The library's estimate keeps to this, its table of units at risk does not: units at risk are counted here.

`events`, `exposure_h`: failures and unit-hours up to and including the row's time. min_detectable_ratio: the hazard
ratio exp((z(0.975) + z(0.8)) sqrt(2/events)) that a log-rank test against an equal group with as many failures finds
with 80 % power at 5 % two-sided (Schoenfeld 1981, Biometrika 68: 316).

Refused (reason): a group without units (`no_units`) or failures (`no_failures`), units that fail more than once
(`several_failures_per_unit`: gap times are no lifetimes) or overlap themselves (`overlapping_intervals`), and every
time from a moment on at which no one is left at risk, or all who are fail, while others live on (`risk_set_emptied`:
ask for survival given survival to a later `start_h`). A curve that ends at 0 has no limits there.

Assumes that entry and censoring tell nothing about failure: parts pulled on suspicion break this.
References: Kaplan & Meier 1958; Kalbfleisch & Prentice 2002, eq. 1.13; Tsai, Jewell & Wang 1987 (late entry).
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, arrange, check, confidence, refuse_taken

Floats = npt.NDArray[np.float64]

OWN = {"n_at_risk": pl.Int64(), "n_failed": pl.Int64(), "standard_error": pl.Float64()}


def kaplan_meier(lifetimes: pl.DataFrame, level: float = 0.95, by: Sequence[str] = (), start_h: float = 0.0) -> pl.DataFrame:
    """One row per group of `by` and distinct failure time: by, time_h, RESULT (quantity survival_ratio), own columns.

    `lifetimes`: unit, entry_h, exit_h, event; hours of age; half-open (entry, exit]. Own columns: n_at_risk just before
    time_h, n_failed at it, standard_error (Greenwood). `start_h`: survival given survival to this age. A refused group
    is one row with a null time_h. Rows in order of group and time. Raises ValueError where exit_h <= entry_h, a number
    is missing, NaN or negative, or `by` names no column of the table.
    """
    level, lifetimes, keys = confidence(level), check(lifetimes, "lifetimes"), [by] if isinstance(by, str) else list(by)
    refuse_taken(keys, ("time_h", *OWN))
    for key in keys:
        if key not in lifetimes.columns:
            message = f"by {key!r}: no column of that name; found {', '.join(lifetimes.columns)}"
            raise ValueError(message)
    if not start_h >= 0:
        message = f"start_h {start_h!r}: give an age in hours, 0 or more"
        raise ValueError(message)
    groups = lifetimes.sort(keys, maintain_order=True).partition_by(keys, maintain_order=True) if keys else [lifetimes]
    if not groups:
        return _named(_refused(lifetimes, level, "no_units"), lifetimes, keys).clear()
    return pl.concat(_named(_group(group, level, start_h), group, keys) for group in groups)


def _group(group: pl.DataFrame, level: float, start_h: float) -> pl.DataFrame:
    """The curve of one group given survival to start_h, or its one row with a reason."""
    group = group.filter(pl.col("exit_h") > start_h).with_columns(pl.col("entry_h").clip(start_h))
    reason = _reason(group)
    if reason is not None:
        return _refused(group, level, reason)
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    emptied, counted = _emptied(entry, exit_), _counts(entry, exit_, failed)
    frame = counted.join(_curve(group.filter(pl.col("entry_h") < emptied), level), on="time_h", how="left").sort("time_h")
    ended = pl.col("estimate") == 0
    beyond = (pl.col("time_h") > emptied) | (ended & (pl.col("time_h").filter(ended).min() < exit_.max()))
    variance = (pl.col("n_failed") / (pl.col("n_at_risk") * (pl.col("n_at_risk") - pl.col("n_failed")))).cum_sum()
    frame = frame.with_columns(standard_error=pl.col("estimate") * variance.sqrt())
    limits = [pl.when(~beyond & ~ended).then(name).alias(name) for name in ("low", "high", "standard_error")]
    estimate = pl.when(~beyond).then("estimate").alias("estimate")
    reasons = pl.when(beyond).then(pl.lit("risk_set_emptied")).alias("reason")
    return _complete(frame.with_columns(*limits, estimate, reasons), group, level)


def _reason(group: pl.DataFrame) -> str | None:
    """Why a group has no curve; null where it has one."""
    if group.is_empty():
        return "no_units"
    if not group["event"].any():
        return "no_failures"
    spells = group.sort("unit", "entry_h", "exit_h").select(
        overlaps=(pl.col("entry_h") < pl.col("exit_h").shift()).over("unit").any(),
        repeats=(pl.col("event").cast(pl.Int64).sum().over("unit") > 1).any(),
    )
    if spells["repeats"][0]:
        return "several_failures_per_unit"
    return "overlapping_intervals" if spells["overlaps"][0] else None


def _emptied(entry: Floats, exit_: Floats) -> float:
    """The time at which all who entered so far have left while others enter later; else the last exit."""
    order = np.argsort(entry, kind="stable")
    left = np.maximum.accumulate(exit_[order])
    gaps = np.flatnonzero(entry[order][1:] > left[:-1])
    return float(left[gaps[0]] if len(gaps) else left[-1])


def _counts(entry: Floats, exit_: Floats, failed: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """One row per distinct failure time: failures, units at risk, and unit-hours so far, by the definition."""
    times, n_failed = np.unique(exit_[failed], return_counts=True)
    entries, exits = np.sort(entry), np.sort(exit_)
    entered, left = np.searchsorted(entries, times), np.searchsorted(exits, times)
    hours_in, hours_out = (np.concatenate([[0.0], np.cumsum(values)]) for values in (entries, exits))
    at_risk = entered - left
    return pl.DataFrame(
        {
            "time_h": times,
            "n_failed": n_failed,
            "n_at_risk": at_risk,
            "events": np.cumsum(n_failed),
            "exposure_h": hours_out[left] + times * at_risk - hours_in[entered],
        }
    )


def _curve(group: pl.DataFrame, level: float) -> pl.DataFrame:
    """One row per distinct failure time, by the library: time_h, estimate, low, high."""
    from lifelines import KaplanMeierFitter

    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    fitted = KaplanMeierFitter(alpha=1 - level).fit(exit_, failed, entry=entry)
    times = np.unique(exit_[failed])
    low, high = fitted.confidence_interval_.loc[times].to_numpy().T
    return pl.DataFrame(
        {"time_h": times, "estimate": fitted.survival_function_.loc[times].to_numpy()[:, 0], "low": low, "high": high}
    )


def _refused(group: pl.DataFrame, level: float, reason: str) -> pl.DataFrame:
    """One row without a time and without numbers but the exposure and failures of the group."""
    hours = (group["exit_h"] - group["entry_h"]).sum()
    row = pl.DataFrame({"reason": [reason], "events": [int(group["event"].sum())], "exposure_h": [float(hours)]})
    numbers = [pl.lit(None, pl.Float64).alias(name) for name in ("time_h", "estimate", "low", "high", "standard_error")]
    counts = [pl.lit(None, pl.Int64).alias(name) for name in ("n_at_risk", "n_failed")]
    return _complete(row.with_columns(*numbers, *counts), group, level)


def _complete(frame: pl.DataFrame, group: pl.DataFrame, level: float) -> pl.DataFrame:
    """The rows in the order of the contract, with what is equal in all of them."""
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    given = "" if group.is_empty() else f"; given survival to {group['entry_h'].to_numpy().min():g} h"
    frame = frame.with_columns(
        quantity=pl.lit("survival_ratio"),
        confidence_level=pl.lit(level),
        method=pl.lit("log-log"),
        min_detectable_ratio=pl.when(pl.col("events") > 0).then((z * (2 / pl.col("events")).sqrt()).exp()),
        assumptions=pl.lit(f"entry and censoring tell nothing of failure; units of a group alike{given}"),
    )
    return arrange(frame, ["time_h"], OWN)


def _named(frame: pl.DataFrame, group: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows with the group's labels in front."""
    named = [pl.lit(None if group.is_empty() else group[key][0], group[key].dtype).alias(key) for key in keys]
    return frame.select(*named, pl.all())


MODEL = Model("kaplan-meier", "lifetimes", kaplan_meier, "survival by age with late entry, Greenwood variance and log-log limits")
