"""Do 95 % intervals hold the truth 95 times in a hundred: simulated fleets of known truth, each model on each fleet.

Prints the share for every model with the two-sided 99.9 % range of the binomial. Seeds are fixed: fleet i of a model is the
same each time. The suite runs 50 fleets of each, this file 500. Exact limits hold the truth more often than they say, and so do
tests with few failures. Without an effect, an interval that leaves out none, or a discovery, is a false one: 5 % may be.

    python bench/bench_coverage.py [--fleets 500] [--only weibull-shape]
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bathtub.survival import models

Trial = Callable[[np.random.Generator], bool | None]
"""One fleet: does the interval hold the truth; None where the model refuses."""

N_UNITS, WATCHED_H = 300, 3000.0


def holds(row: dict, truth: float) -> bool | None:
    return None if row["estimate"] is None else bool(row["low"] <= truth <= row["high"])


def watched(chance: np.random.Generator, draw: Callable[[int], np.ndarray]) -> pl.DataFrame:
    """Units that entered observation at ages up to 10,000 h, if they lived so long, and were watched for WATCHED_H."""
    lived, entered = draw(4 * N_UNITS), chance.uniform(0, 10_000, 4 * N_UNITS)
    seen = np.flatnonzero(lived > entered)[:N_UNITS]
    entered, lived = entered[seen], lived[seen]
    ended = np.minimum(lived, entered + WATCHED_H)
    return pl.DataFrame({"unit": range(len(seen)), "entry_h": entered, "exit_h": ended, "event": lived == ended})


def weibull_shape(chance: np.random.Generator) -> bool | None:
    rows = watched(chance, lambda n: chance.weibull(1.5, n) * 10_000)
    return holds(models()["weibull"].fit(rows).row(1, named=True), 1.5)


def weibull_survival(chance: np.random.Generator) -> bool | None:
    rows = watched(chance, lambda n: chance.weibull(0.7, n) * 20_000)
    return holds(models()["weibull"].fit(rows, at_h=5000.0).row(2, named=True), float(np.exp(-(0.25**0.7))))


def lognormal_median(chance: np.random.Generator) -> bool | None:
    rows = watched(chance, lambda n: chance.lognormal(9, 0.8, n))
    return holds(models()["lognormal"].fit(rows).row(0, named=True), float(np.exp(9)))


def piecewise_hazard(chance: np.random.Generator) -> bool | None:
    rows = watched(chance, lambda n: chance.exponential(20_000, n))
    return holds(models()["piecewise"].fit(rows, cuts_h=[4000.0, 8000.0]).row(1, named=True), 1 / 20_000)


def cox_ratio(chance: np.random.Generator) -> bool | None:
    """Every second unit fails at twice the hazard."""
    groups = [watched(chance, lambda n, k=k: chance.weibull(1.3, n) * 10_000 * 2 ** (-k / 1.3)) for k in (0, 1)]
    rows = pl.concat([group.with_columns(hot=pl.lit(k), unit=pl.col("unit") + k * N_UNITS) for k, group in enumerate(groups)])
    return holds(models()["cox"].fit(rows, covariates="hot").row(0, named=True), 2.0)


def incidence(chance: np.random.Generator) -> bool | None:
    """Two causes of constant hazards 1/10,000 and 1/5,000 h; the share of the first by 5,000 h."""
    first, second, left = (
        chance.exponential(10_000, N_UNITS),
        chance.exponential(5000, N_UNITS),
        chance.uniform(0, 15_000, N_UNITS),
    )
    ended = np.minimum(np.minimum(first, second), left)
    cause = np.where(first == ended, "gpu", "nic")
    rows = pl.DataFrame(
        {"unit": range(N_UNITS), "entry_h": [0.0] * N_UNITS, "exit_h": ended, "event": ended < left, "cause": cause}
    )
    found = models()["competing-risks"].fit(rows).filter((pl.col("cause") == "gpu") & (pl.col("time_h") <= 5000))
    return holds(found.row(-1, named=True), float((1 - np.exp(-1.5)) / 3))


def recurring(chance: np.random.Generator, shape: float) -> pl.DataFrame:
    """Units that are repaired at once, watched for 1,000 h, whose own rates are Gamma of this shape about 1 in 500 h."""
    rows = []
    for unit in range(200):
        rate, at = chance.gamma(shape) / shape / 500, 0.0
        while at < 1000:
            end = min(at + chance.exponential(1 / max(rate, 1e-12)), 1000.0)
            rows.append((unit, at, end, end < 1000))
            at = end
    return pl.DataFrame(rows, schema=["unit", "entry_h", "exit_h", "event"], orient="row")


def failures_per_unit(chance: np.random.Generator) -> bool | None:
    return holds(models()["mcf"].fit(recurring(chance, 0.65)).row(-1, named=True), 2.0)


def recurrent_ratio(chance: np.random.Generator) -> bool | None:
    """A covariate without any effect, units that differ: errors must be clustered by unit."""
    rows = recurring(chance, 0.65).with_columns(odd=pl.col("unit") % 2)
    return holds(models()["cox"].fit(rows, covariates="odd").row(0, named=True), 1.0)


def power_shape(chance: np.random.Generator) -> bool | None:
    times = np.sort(1000 * chance.uniform(size=chance.poisson(40)) ** (1 / 1.4))
    edges = np.concatenate([[0.0], times, [1000.0]])
    rows = pl.DataFrame({"unit": ["a"] * (len(edges) - 1), "entry_h": edges[:-1], "exit_h": edges[1:]})
    return holds(models()["trend"].fit(rows.with_columns(event=pl.col("exit_h") < 1000)).row(1, named=True), 1.4)


LIFETIMES: dict[str, Trial] = {
    "weibull-shape": weibull_shape,
    "weibull-survival": weibull_survival,
    "lognormal-median": lognormal_median,
    "piecewise-hazard": piecewise_hazard,
    "cox-ratio": cox_ratio,
    "cox-recurrent-ratio": recurrent_ratio,
    "competing-risks-share": incidence,
    "mcf-failures-per-unit": failures_per_unit,
    "trend-power-shape": power_shape,
}


def cluster_mtbf(chance: np.random.Generator) -> bool | None:
    """Twenty failures expected, units in series."""
    cells = pl.DataFrame({"failures": [int(chance.poisson(20))], "exposure_h": [20_000.0]})
    return holds(models()["mtbf"].fit(cells, n_units=50).row(0, named=True), 1000 / 50)


def nodes(chance: np.random.Generator, n_nodes: int, rate: float, shape: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Failures and hours of nodes watched for 500 to 2,000 h, whose rates are Gamma of this shape about `rate`."""
    hours = chance.uniform(500, 2000, n_nodes)
    rates = np.full(n_nodes, rate) if shape is None else chance.gamma(shape, rate / shape, n_nodes)
    return chance.poisson(rates * hours), hours


def vendors(chance: np.random.Generator, shape: float | None) -> bool | None:
    """Two vendors of 60 nodes, of which the second fails 1.6 times as often; nodes alike, or not."""
    parts = [nodes(chance, 60, rate, shape) for rate in (1 / 2000, 1.6 / 2000)]
    names = [f"{vendor}{k}" for vendor in "ab" for k in range(60)]
    columns = {"vendor": [name[0] for name in names], "node": names}
    counts, hours = (np.concatenate(pair) for pair in zip(*parts, strict=True))
    cells = pl.DataFrame({**columns, "failures": counts, "exposure_h": hours})
    return holds(models()["rate-ratio"].fit(cells, compare="vendor", reference="a").row(0, named=True), 1.6)


def no_lemon(chance: np.random.Generator) -> bool:
    """Units that differ as usual: a lemon among them is a false discovery."""
    counts, hours = nodes(chance, 200, 1 / 1000, 0.65)
    found = models()["ranking"].fit(pl.DataFrame({"node": range(200), "failures": counts, "exposure_h": hours}))
    return not found["is_lemon"].any()


def no_rack(chance: np.random.Generator) -> bool:
    """Racks that differ as usual, each against all others."""
    counts, hours = nodes(chance, 60, 1 / 200, 3.0)
    found = models()["rate-ratio"].fit(pl.DataFrame({"rack": range(60), "failures": counts, "exposure_h": hours}))
    return not (found["q_value"] <= 0.05).any()


def day(chance: np.random.Generator, amplitude: float, shape: float | None) -> pl.DataFrame:
    """A week of hours with about three failures each, a service window, a weekend of 0.7; each hour of its own luck, or not."""
    hour, weekday = (grid.ravel() for grid in np.meshgrid(np.arange(24), np.arange(1, 8)))
    exposure = np.where((hour >= 9) & (hour < 12), 600.0, 1000.0)
    rate = 0.003 * np.exp(amplitude * np.cos(2 * np.pi * (hour + 0.5 - 14) / 24)) * np.where(weekday > 5, 0.7, 1.0)
    luck = 1.0 if shape is None else chance.gamma(shape, 1 / shape, len(hour))
    columns = {"hour": hour, "is_weekend": weekday > 5, "exposure_h": exposure}
    return pl.DataFrame({**columns, "failures": chance.poisson(rate * luck * exposure)})


def amplitude(chance: np.random.Generator, truth: float, shape: float | None) -> bool | None:
    return holds(models()["diurnal"].fit(day(chance, truth, shape)).row(0, named=True), truth)


def heat(chance: np.random.Generator, slope: float, shape: float | None) -> bool | None:
    """Three hundred failures in bins of 1 C of two vendors, at eight hours of the day, temperatures of sd 4 C."""
    vendor, hour, degrees = (grid.ravel() for grid in np.meshgrid([0, 1], np.arange(0, 24, 3), np.arange(46.0, 75.0)))
    exposure = 1e5 * np.exp(-(((degrees - 60 - vendor) / 4) ** 2) / 2)
    rate = 300 / exposure.sum() * np.exp(slope * (degrees - 60.5)) * np.where(vendor, 1.4, 0.8)
    luck = 1.0 if shape is None else chance.gamma(shape, 1 / shape, len(hour))
    columns = {"vendor": vendor, "hour": hour, "temperature_c": degrees, "exposure_h": exposure}
    cells = pl.DataFrame({**columns, "failures": chance.poisson(rate * luck * exposure)})
    return holds(models()["thermal"].fit(cells).row(0, named=True), slope)


CELLS: dict[str, Trial] = {
    "mtbf": cluster_mtbf,
    "rate-ratio": lambda chance: vendors(chance, None),
    "rate-ratio-nodes-differ": lambda chance: vendors(chance, 0.65),
    "rate-ratio-no-rack": no_rack,
    "ranking-no-lemon": no_lemon,
    "diurnal-amplitude": lambda chance: amplitude(chance, 0.25, None),
    "diurnal-amplitude-spread": lambda chance: amplitude(chance, 0.25, 2.0),
    "diurnal-none": lambda chance: amplitude(chance, 0.0, None),
    "diurnal-none-spread": lambda chance: amplitude(chance, 0.0, 2.0),
    "thermal-slope": lambda chance: heat(chance, 0.043, None),
    "thermal-slope-spread": lambda chance: heat(chance, 0.043, 1.0),
    "thermal-none": lambda chance: heat(chance, 0.0, None),
}
TRIALS: dict[str, Trial] = {**LIFETIMES, **CELLS}


def coverage(trial: Trial, n_fleets: int) -> tuple[int, int]:
    """Intervals that hold the truth, and fleets that were not refused."""
    found = [trial(np.random.default_rng(seed)) for seed in range(n_fleets)]
    kept = [held for held in found if held is not None]
    return sum(kept), len(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fleets", type=int, default=500)
    parser.add_argument("--only", choices=sorted(TRIALS))
    chosen = parser.parse_args()
    for name in [chosen.only] if chosen.only else TRIALS:
        started = time.process_time()
        held, asked = coverage(TRIALS[name], chosen.fleets)
        low, high = (binom.ppf(p, asked, 0.95) / asked for p in (0.0005, 0.9995))
        verdict = "   TOO FEW" if held / asked < low else "   more than asked" if held / asked > high else ""
        spent = time.process_time() - started
        print(f"{name:24} {held}/{asked} = {held / asked:.3f}   (0.95: {low:.3f} to {high:.3f}){verdict}   CPU {spent:.1f} s")


if __name__ == "__main__":
    main()
