"""The models reproduce the reference values, which were made with other software; skipped where these are absent."""

import json
import math
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from bathtub.survival.kaplan_meier import kaplan_meier
from bathtub.survival.mtbf import mtbf


@pytest.fixture(scope="module")
def values(corpus: Path) -> dict[str, dict]:
    folder = corpus.parent / "reference" / "values"
    if not folder.is_dir():
        pytest.skip("the reference values are not on this machine")
    files = [json.loads((folder / f"{name}.json").read_text())["values"] for name in ("bundled", "infinitehbd", "inline")]
    return {value["id"]: value for values in files for value in values}


def cell(failures: int, hours: float) -> dict:
    return mtbf(pl.DataFrame({"failures": [failures], "exposure_h": [float(hours)]})).row(0, named=True)


def close(found: float | None, expected: float | None, tolerance: float) -> bool:
    if expected is None or found is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-9)


def test_limits_of_a_count(values):
    for row in values["poisson_limits"]["value"]:
        found = cell(row["r"], 1.0)
        assert close(found["high"] and 1 / found["high"], row["lo"] or None, 1e-9)
        assert close(1 / found["low"], row["hi"], 1e-9)
        assert close(1 / found["lower_bound"], row["hi1s"], 1e-9)


def test_failures_in_time_and_annual_rate(values):
    for row in values["fit_afr"]["value"]:
        found = cell(row["r"], row["T"])
        for column, name in (("fit_60", "fit_hi_60"), ("fit_90", "fit_hi_90")):
            assert close(found[column], row[name], 1e-6)
        for name in ("fit", "afr"):  # no failure, no estimate: the reference prints the formula's 0 there
            assert close(found[name], row[name] if row["r"] else None, 1e-6)


def test_rates_of_real_faults_by_class(values):
    classes = [
        *values["hbd_byclass"]["value"].values(),
        *(values[name]["value"] for name in ("hbd_all", "hbd_hw", "hbd_zero_class")),
    ]
    for row in classes:
        found = cell(row["events"], row["exposure"])
        assert close(found["estimate"], row["mtbf"], 1e-4)
        assert close(found["high"] and 1 / found["high"], row["rate_lo"] or None, 1e-4)
        assert close(1 / found["low"], row["rate_hi"], 1e-4)
        assert close(1 / found["lower_bound"], row["rate_hi_1s"], 1e-4)


def lifetimes(frame: pd.DataFrame, exit_h: str, event: str, entry_h: str | None = None, by: str | None = None) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "unit": [str(number) for number in range(len(frame))],
            "entry_h": [0.0] * len(frame) if entry_h is None else frame[entry_h].astype(float).tolist(),
            "exit_h": frame[exit_h].astype(float).tolist(),
            "event": frame[event].astype(bool).tolist(),
            "group": ["all"] * len(frame) if by is None else frame[by].astype(str).tolist(),
        }
    )


def median(curve: pl.DataFrame, column: str) -> float | None:
    """The first time at which the curve, or one of its limits, is at most one half; null where it never is."""
    return curve.filter(pl.col(column) <= 0.5)["time_h"].min()


CURVES = [  # reference value, data set, exit, event, entry, group and its name in the reference
    ("lung_km_loglog", "load_lung", ("time", "status"), {}),
    ("waltons_km", "load_waltons", ("T", "E"), {"by": "group"}),
    ("gbsg2_km", "load_gbsg2", ("time", "cens"), {"by": "horTh"}),
    ("maids_km_late", "load_multicenter_aids_cohort_study", ("T", "D"), {"entry_h": "W"}),
]


@pytest.mark.parametrize(("name", "data", "columns", "options"), CURVES, ids=[curve[0] for curve in CURVES])
def test_median_survival_and_its_limits(values, name, data, columns, options):
    from lifelines import datasets

    reference = values[name]["value"]
    curves = kaplan_meier(lifetimes(getattr(datasets, data)(), *columns, **options), by=["group"])
    for (group,), curve in curves.partition_by("group", as_dict=True).items():
        expected = reference.get(f"{options.get('by')}={group}", reference)
        assert curve["events"].max() == expected["events"]
        assert close(median(curve, "estimate"), expected["median"], 1e-6)
        assert close(median(curve, "low"), expected["0.95LCL"], 1e-6)
        assert close(median(curve, "high"), expected["0.95UCL"], 1e-6)


def test_survival_errors_and_limits_at_named_times(values):
    from lifelines.datasets import load_lung

    reference = values["lung_km_points"]["value"]
    curve = kaplan_meier(lifetimes(load_lung(), "time", "status"))
    for at, *expected in zip(*(reference[name] for name in ("times", "S", "se_greenwood", "lo", "hi")), strict=True):
        found = curve.filter(pl.col("time_h") <= at).row(-1, named=True)
        for column, number in zip(("estimate", "standard_error", "low", "high"), expected, strict=True):
            assert close(found[column], number, 1e-6)
