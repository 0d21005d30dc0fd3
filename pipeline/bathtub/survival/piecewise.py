"""Hazard by piece of age, failures over unit-hours with exact limits; without `cuts_h` the exponential model.

r failures and T unit-hours of a piece (from_h, to_h]: estimate r/T, limits G(q; r)/T and G(1-q; r+1)/T, G(p; a) the
quantile of the Gamma distribution, q = (1 - level)/2. A unit counts in each piece for the hours that it was observed there,
from its entry on; it may fail more than once. No optimiser: the peak of the likelihood is in closed form.

log_likelihood: Σ (r log(r/T) - r) over the pieces, in hours; aic: 2 (pieces with exposure - log_likelihood), to set beside
those of the model `weibull`. min_detectable_ratio: that of the model `mtbf`.

Refused (reason), by piece: no_exposure; no_failures (the upper limit stands, no estimate). By group: no_units, age_unknown
(only where there are cuts), overlapping_intervals.

Assumes a constant hazard within a piece, units alike, and that observation ends at a time, not at a failure.
References: Garwood 1936, Biometrika 28: 437; Aalen, Borgan & Gjessing 2008, section 5.1.
"""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from bathtub.survival import Model, confidence
from bathtub.survival._groups import Names, hours, per_group, results, totals, wrong
from bathtub.survival.mtbf import detectable_ratio, garwood

FRONT = {"from_h": pl.Float64(), "to_h": pl.Float64()}
OWN = {"log_likelihood": pl.Float64(), "aic": pl.Float64()}
ASSUMPTIONS = "constant hazard within a piece; units alike; observation ends at a time"


def piecewise(lifetimes: pl.DataFrame, level: float = 0.95, by: Names = (), cuts_h: Sequence[float] | float = ()) -> pl.DataFrame:
    """One row per group of `by` and piece: by, from_h, to_h (null: open), RESULT (quantity hazard_per_h), own columns.

    `cuts_h`: hours of age between pieces. A group without pieces is one row with a reason. Raises ValueError for what
    `check` refuses, `by` that is no column, cuts that are no hours.
    """
    level, cuts = confidence(level), [cut for cut in hours(cuts_h, "cuts_h") if cut > 0]
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, level, cuts))


def _group(group: pl.DataFrame, level: float, cuts: Sequence[float]) -> pl.DataFrame:
    alike = {"quantity": "hazard_per_h", "confidence_level": level, "method": "exact", "assumptions": ASSUMPTIONS}
    reason = wrong(group, repairs=True, ages=bool(cuts))
    if reason not in (None, "no_failures"):
        return results([{**alike, **totals(group), "reason": reason}], FRONT, OWN)
    starts, ends = [0.0, *cuts], [*cuts, math.inf]
    entry, exit_, failed = (group[name].to_numpy() for name in ("entry_h", "exit_h", "event"))
    exposure = [
        float(np.maximum(np.minimum(exit_, b) - np.maximum(entry, a), 0).sum()) for a, b in zip(starts, ends, strict=True)
    ]
    events = np.bincount(np.searchsorted(cuts, exit_[failed], side="left"), minlength=len(starts))
    few, many = garwood(events.astype(np.float64), level)
    detectable = detectable_ratio(events.astype(np.float64))
    total = sum(r * (math.log(r / hours_) - 1) for r, hours_ in zip(events, exposure, strict=True) if r)
    found = {"log_likelihood": total, "aic": 2 * (sum(hours_ > 0 for hours_ in exposure) - total)}
    rows = []
    for i, (hours_, r) in enumerate(zip(exposure, events, strict=True)):
        row = {**alike, **found, "from_h": starts[i], "to_h": ends[i] if ends[i] < math.inf else None}
        row |= {"events": int(r), "exposure_h": hours_, "min_detectable_ratio": float(detectable[i])}
        row["reason"] = "no_exposure" if hours_ == 0 else None if r else "no_failures"
        if hours_ > 0:
            row |= {"estimate": r / hours_ if r else None, "low": few[i] / hours_, "high": many[i] / hours_}
        rows.append(row)
    return results(rows, FRONT, OWN)


MODEL = Model("piecewise", "lifetimes", piecewise, "hazard by piece of age with exact limits; one piece is the exponential model")
