"""Does the rate of failures change with operating time: Laplace's test, and the power law (Crow-AMSAA), M(t) = λ t^β.

Time is what the fleet has worked: cumulative unit-hours, so that a fleet that grows or stands still for repair is no trend.
Rows of a table run on one clock, of the calendar or of age; a unit may fail and go on. T is the unit-hours observed.

| quantity | stopped by time (T) | stopped by the last failure (t_n) |
|---|---|---|
| laplace_u | (mean(t) - T/2)/(T/sqrt(12 n)) | the same of the first n-1 times, with T = t_n |
| power_shape_ratio (β) | n/Σ ln(T/t_i) | n/Σ_{i<n} ln(t_n/t_i) |
| bias_corrected | (n-1)/Σ | (n-2)/Σ |
| limits of β | β chi2(q, 1-q; 2n)/(2n) | β chi2(q, 1-q; 2n-2)/(2n) |
| p_value of β = 1 | 2 Σ against chi2 with 2n | with 2n-2 |
| mtbf_at_end_h, in unit-hours | T/(n β) | t_n/(n β) |
| power_scale (λ) | n/T^β | n/t_n^β |

U above 0 and β above 1 mean more failures late. `trend`: rising or falling where the limits of β exclude 1, else none found:
min_detectable_ratio, exp((z(0.975) + z(0.8))/sqrt(n)), is the smallest β (or one over it) that n failures show with 80 %
power. n_times: distinct hours among the failures; simultaneous ones are counted all.

Refused (reason): no_units, no_failures, overlapping_intervals; too_few_failures (two, for what is read from the last
failure; three for its bias correction), no_spread (all failures at the end). A cause that failed only at the end has no trend.

Pooled classes hide opposite trends: ask `per_cause`. Assumes failures independent given the rate, the fleet's units alike.
References: MIL-HDBK-189C, section 6; Crow 1974; Cox & Lewis 1966, section 3.3; NIST/SEMATECH handbook 8.2.3.4.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, confidence, option
from bathtub.survival._groups import POWER_Z, Names, per_group, results, totals, wrong

Floats = npt.NDArray[np.float64]

FRONT = {"cause": pl.String()}
OWN = {
    "p_value": pl.Float64(),
    "bias_corrected": pl.Float64(),
    "power_scale": pl.Float64(),
    "truncation": pl.String(),
    "n_times": pl.Int64(),
    "trend": pl.String(),
}
QUANTITIES = ("laplace_u", "power_shape_ratio", "mtbf_at_end_h")
ASSUMPTIONS = "failures independent given the rate; units alike; time is cumulative unit-hours"


def trend(
    lifetimes: pl.DataFrame, level: float = 0.95, by: Names = (), truncation: str = "time", *, per_cause: bool = False
) -> pl.DataFrame:
    """Three rows per group of `by` (and cause, where `per_cause`): by, cause, RESULT, own columns (see the module).

    `truncation`: `time` where observation ends at a date, `failure` where it stops at the last failure; rows beyond that
    are left out. Causes share the unit-hours of their group. Raises ValueError for what `check` refuses, and for
    `per_cause` without a column `cause`.
    """
    level, reading = confidence(level), option("truncation", truncation, ("time", "failure"))
    if per_cause and "cause" not in lifetimes.columns:
        message = f"column 'cause' is missing; found {', '.join(lifetimes.columns)}"
        raise ValueError(message)
    return per_group(lifetimes, by, (*FRONT, *OWN), lambda group: _group(group, level, reading, per_cause=per_cause))


def _group(group: pl.DataFrame, level: float, reading: str, *, per_cause: bool) -> pl.DataFrame:
    alike = {"confidence_level": level, "truncation": reading, "assumptions": ASSUMPTIONS, **totals(group)}
    reason = wrong(group, repairs=True, ages=False)
    if reason is not None:
        refused = [{**alike, "method": "exact", "quantity": quantity, "reason": reason} for quantity in QUANTITIES]
        return results(refused, FRONT, OWN)
    failed = group.filter("event").sort("exit_h")
    operating = _operating(group)
    if not per_cause:
        return results([{**alike, **row} for row in _rows(failed["exit_h"].to_numpy(), operating, level, reading)], FRONT, OWN)
    rows = []
    for (cause,), part in failed.with_columns(pl.col("cause").cast(pl.String)).group_by("cause", maintain_order=True):
        found = _rows(part["exit_h"].to_numpy(), operating, level, reading)
        rows += [{**alike, "cause": cause, "events": len(part), **row} for row in found]
    return results(sorted(rows, key=lambda row: (row["cause"] is None, row["cause"] or "")), FRONT, OWN)


def _operating(group: pl.DataFrame) -> tuple[Floats, Floats]:
    """Hours of the clock at which units enter or leave, and the unit-hours worked until each."""
    entry, exit_ = np.sort(group["entry_h"].to_numpy()), np.sort(group["exit_h"].to_numpy())
    clock = np.unique(np.concatenate([entry, exit_]))
    at_work = np.searchsorted(entry, clock, side="right") - np.searchsorted(exit_, clock, side="right")
    return clock, np.concatenate([[0.0], np.cumsum(np.diff(clock) * at_work[:-1])])


def _rows(at_h: Floats, operating: tuple[Floats, Floats], level: float, reading: str) -> list[dict[str, Any]]:
    """Laplace's U, the shape, and the MTBF at the end, of failures at these hours in order."""
    times = np.interp(at_h, *operating)
    end = float(times[-1] if reading == "failure" else operating[1][-1])
    n, n_free = len(times), len(times) - (reading == "failure")
    alike = {"n_times": len(np.unique(at_h)), "exposure_h": end, "min_detectable_ratio": math.exp(POWER_Z / math.sqrt(n))}
    total = float(np.log(end / times[:n_free]).sum())
    reason = "too_few_failures" if n_free == 0 else "no_spread" if total <= 0 else None
    if reason is not None:
        return [{**alike, "method": "exact", "quantity": quantity, "reason": reason} for quantity in QUANTITIES]
    u = float((times[:n_free].mean() / end - 0.5) * math.sqrt(12 * n_free))
    shape = _shape(total, n, n_free, level)
    laplace = {"quantity": QUANTITIES[0], "estimate": u, "p_value": math.erfc(abs(u) / math.sqrt(2)), "method": "normal"}
    mtbf = {"quantity": QUANTITIES[2], "estimate": end / (n * shape["estimate"]), "method": "exact"}
    shape["power_scale"] = n * math.exp(-shape["estimate"] * math.log(end))
    shape["trend"] = "rising" if shape["low"] > 1 else "falling" if shape["high"] < 1 else "none found"
    return [{**alike, **row} for row in (laplace, shape, mtbf)]


def _shape(total: float, n: int, n_free: int, level: float) -> dict[str, Any]:
    """β from total = Σ ln(T/t_i): 2 β total is chi2 with 2 n_free degrees of freedom."""
    from scipy.stats import chi2

    estimate, freedom = n / total, 2 * n_free
    low, high = (float(chi2.ppf(p, freedom)) / (2 * total) for p in ((1 - level) / 2, (1 + level) / 2))
    tails = float(chi2.cdf(2 * total, freedom)), float(chi2.sf(2 * total, freedom))
    corrected = (n_free - 1) / total if n_free > 1 else None
    found = {"quantity": QUANTITIES[1], "estimate": estimate, "low": low, "high": high, "method": "exact"}
    return found | {"p_value": min(1.0, 2 * min(tails)), "bias_corrected": corrected}


MODEL = Model("trend", "lifetimes", trend, "Laplace's test and the power law (Crow-AMSAA) over operating time, per class")
