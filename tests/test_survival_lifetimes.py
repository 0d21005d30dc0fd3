"""Models over lifetimes: the reference values over public data sets, known defects of other software, promises for any input."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import binom, norm

from bathtub.survival import RESULT, models
from bathtub.survival.competing_risks import competing_risks
from bathtub.survival.cox import cox
from bathtub.survival.log_rank import log_rank
from bathtub.survival.mcf import mcf
from bathtub.survival.piecewise import piecewise
from bathtub.survival.trend import trend
from bathtub.survival.weibull import weibull
from bench.bench_coverage import LIFETIMES, coverage


@pytest.fixture(scope="module")
def values(corpus: Path) -> dict[str, dict]:
    file = corpus.parent / "reference" / "values" / "bundled.json"
    if not file.exists():
        pytest.skip("the reference values are not on this machine")
    return {value["id"]: value["value"] for value in json.loads(file.read_text())["values"]}


def data(name: str) -> pd.DataFrame:
    from lifelines import datasets

    return getattr(datasets, f"load_{name}")()


def table(frame: pd.DataFrame, exit_h: str, event: str, entry_h: str | None = None, unit: str | None = None) -> pl.DataFrame:
    columns = {
        "unit": range(len(frame)) if unit is None else frame[unit],
        "entry_h": [0.0] * len(frame) if entry_h is None else frame[entry_h].astype(float),
        "exit_h": frame[exit_h].astype(float),
        "event": frame[event].astype(bool),
    }
    beside = frame.drop(columns=[name for name in (exit_h, event, entry_h, unit) if name]).reset_index(drop=True)
    return pl.DataFrame({name: list(value) for name, value in columns.items()} | {n: beside[n].tolist() for n in beside.columns})


def close(found: float | None, expected: float, tolerance: float = 1e-4) -> bool:
    return found is not None and math.isclose(found, expected, rel_tol=tolerance)


@pytest.mark.parametrize(
    ("name", "source", "columns"),
    [
        ("rossi_weibull_uni", "rossi", ("week", "arrest")),
        ("lung_weibull_uni", "lung", ("time", "status")),
        ("waltons_weibull_uni", "waltons", ("T", "E")),
    ],
)
def test_weibull_scale_shape_and_limits(values, name, source, columns):
    scale, shape = weibull(table(data(source), *columns)).rows(named=True)
    for row, key in ((scale, "lambda"), (shape, "rho")):
        assert close(row["estimate"], values[name][key])
        assert close(row["standard_error"] * row["estimate"], values[name][f"{key}_se"])
        assert all(close(row[side], limit) for side, limit in zip(("low", "high"), values[name][f"{key}_ci_log"], strict=True))
        assert close(row["log_likelihood"], values[name]["loglik"])


def test_weibull_of_failures_found_at_inspection(values):
    frame = data("diabetes")
    seen = np.isfinite(frame["right"])
    found = weibull(
        pl.DataFrame(
            {
                "unit": range(len(frame)),
                "entry_h": [0.0] * len(frame),
                "exit_h": np.where(seen, frame["right"], frame["left"]).astype(float),
                "event": seen.to_numpy(),
                "last_alive_h": frame["left"].to_numpy(dtype=float),
            }
        )
    )
    for row, key in zip(found.rows(named=True), ("lambda", "rho"), strict=True):
        assert close(row["estimate"], values["diabetes_interval_weibull"][key])
        assert close(row["standard_error"] * row["estimate"], values["diabetes_interval_weibull"][f"{key}_se"])
        assert close(row["log_likelihood"], values["diabetes_interval_weibull"]["loglik"])


ROSSI = ["fin", "age", "race", "wexp", "mar", "paro", "prio"]


def test_weibull_accelerated_by_covariates(values):
    expected, frame = values["rossi_weibull_aft"], data("rossi")
    found = weibull(table(frame, "week", "arrest"), covariates=ROSSI)
    for row in found.drop_nulls("term").rows(named=True):
        assert close(math.log(row["estimate"]), expected["coef"][row["term"]])
        assert close(row["standard_error"], expected["se"][row["term"]])
    scale, shape = found.filter(pl.col("term").is_null()).rows(named=True)
    at_zero = math.log(scale["estimate"]) - sum(expected["coef"][name] * frame[name].mean() for name in ROSSI)
    assert close(at_zero, expected["coef"]["(Intercept)"])
    assert close(1 / shape["estimate"], expected["scale"])
    assert close(shape["standard_error"], expected["se"]["log(scale)"])
    assert close(shape["log_likelihood"], expected["loglik"][1])


@pytest.mark.parametrize(
    ("name", "source", "columns"),
    [("rossi_exp", "rossi", ("week", "arrest")), ("maids_exp_lt", "multicenter_aids_cohort_study", ("T", "D", "W"))],
)
def test_exponential_counts_hours_from_entry_on(values, name, source, columns):
    row = piecewise(table(data(source), *columns)).row(0, named=True)
    assert (row["events"], row["estimate"]) == (values[name]["events"], pytest.approx(values[name]["rate"], rel=1e-6))
    assert [row["low"], row["high"]] == pytest.approx(values[name]["exact95"], rel=1e-6)
    assert not close(row["estimate"], values[name].get("rate_ignoring", 0.0))


HEART = ["age", "year", "surgery", "transplant"]
START_STOP = ("stop", "event", "start", "id")
COX = [
    ("rossi_cox_efron", "rossi", ("week", "arrest"), ROSSI, {}),
    ("rossi_cox_breslow", "rossi", ("week", "arrest"), ROSSI, {"ties": "breslow"}),
    ("rossi_cox_robust", "rossi", ("week", "arrest"), ROSSI, {}),
    ("rossi_cox_strata_wexp", "rossi", ("week", "arrest"), [x for x in ROSSI if x != "wexp"], {"strata": "wexp"}),
    ("lung_cox", "lung", ("time", "status"), ["age", "sex", "ph.ecog"], {}),
    ("stanford_tv_efron", "stanford_heart_transplants", START_STOP, HEART, {}),
    ("stanford_tv_breslow", "stanford_heart_transplants", START_STOP, HEART, {"ties": "breslow"}),
    ("stanford_tv_robust_cluster", "stanford_heart_transplants", START_STOP, HEART, {}),
    ("recur_AG", "recur", ("TIME1", "CENSOR", "TIME0", "ID"), ["AGE", "TREAT"], {}),
    ("larynx_cox", "larynx", ("time", "death"), ["age", "Stage_II", "Stage_III", "Stage_IV"], {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "columns", "covariates", "options"), COX, ids=[case[0] for case in COX])
def test_hazard_ratios_and_their_errors(values, name, source, columns, covariates, options):
    rows = table(data(source), *columns).filter(pl.col("exit_h") > pl.col("entry_h")).drop_nulls(covariates)
    rows = rows.filter(pl.all_horizontal(pl.col(covariates).is_not_nan() if source == "lung" else pl.lit(value=True)))
    found, expected = cox(rows, covariates=covariates, **options), values[name]
    for row in found.rows(named=True):
        assert close(row["coefficient"], expected["coef"][row["term"]])
        assert close(row["standard_error"], expected["se"][row["term"]])
        assert "robust_se" not in expected or close(row["clustered_error"], expected["robust_se"][row["term"]])
        assert close(row["p_value"], expected["p"][row["term"]], 1e-3) or row["method"] != "log" or "robust_se" in expected
        assert close(row["log_likelihood"], expected["loglik"])
        assert close(row["log_likelihood_null"], expected["loglik0"])
        assert row["events"] == expected["nevent"]
        error = row["clustered_error" if name == "recur_AG" else "standard_error"]
        assert close(row["high"], math.exp(row["coefficient"] + norm.ppf(0.975) * error))


def test_proportionality_is_the_exact_score_test(values):
    found, expected = cox(table(data("rossi"), "week", "arrest"), covariates=ROSSI), values["rossi_zph_km"]
    for row in found.rows(named=True):
        assert close(row["ph_chi2"], expected["chisq"][row["term"]])
        assert close(row["ph_p_value"], expected["p"][row["term"]])
        assert close(row["ph_chi2_all"], expected["chisq"]["GLOBAL"])


def test_a_baseline_hazard_honours_entry(values):
    rows = table(data("multicenter_aids_cohort_study"), "T", "D", "W")
    rows = rows.with_columns(x=pl.int_range(pl.len()) % 2)
    found = cox(rows, covariates="x", at_h=6).row(-1, named=True)
    assert found["quantity"] == "cumulative_hazard"
    assert close(found["estimate"], values["maids_basehaz6"]["honouring_entry"])
    assert not close(found["estimate"], values["maids_basehaz6"]["ignoring_entry_wrong"], 0.1)


@pytest.mark.parametrize(
    ("name", "source", "columns", "groups"),
    [("lung_logrank_sex", "lung", ("time", "status"), "sex"), ("waltons_logrank", "waltons", ("T", "E"), "group")],
)
def test_log_rank(values, name, source, columns, groups):
    for row in log_rank(table(data(source), *columns), groups=groups).rows(named=True):
        assert close(row["chi2"], values[name]["chisq"], 1e-6)
        assert close(row["p_value"], values[name]["p"], 1e-6)


def lives(spells: list[tuple[int, int, bool]], scale: float = 1.0) -> pl.DataFrame:
    rows = [(str(i), entry * scale, (entry + length) * scale, failed, i % 2) for i, (entry, length, failed) in enumerate(spells)]
    schema = {"unit": pl.String, "entry_h": pl.Float64, "exit_h": pl.Float64, "event": pl.Boolean, "x": pl.Int64}
    causes = pl.when("event").then(pl.when(pl.col("x") == 0).then(pl.lit("gpu")).otherwise(pl.lit("nic"))).alias("cause")
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(causes)


SPELLS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40), st.booleans()), min_size=1, max_size=40)
OPTIONS: dict[str, dict] = {"cox": {"covariates": "x"}, "log-rank": {"groups": "x"}, "trend": {"per_cause": True}}
OWN = ["competing-risks", "cox", "log-logistic", "log-rank", "lognormal", "mcf", "piecewise", "trend", "weibull"]
FEW = settings(max_examples=20)
IN_HOURS = ("time_h", "exposure_h", "scale_h", "median_h", "mtbf_at_end_h")
UNSCALED = ("log_likelihood", "log_likelihood_null", "aic", "aic_exponential", "aic_weibull", "aic_lognormal", "aic_log_logistic")


def fitted(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    return models()[name].fit(frame, **OPTIONS.get(name, {}))


@pytest.mark.parametrize("name", OWN)
@FEW
@given(spells=SPELLS)
def test_row_order_does_not_matter(name, spells):
    frame = lives(spells)
    assert_frame_equal(fitted(name, frame), fitted(name, frame.reverse()), rel_tol=1e-5, abs_tol=1e-9)


@pytest.mark.parametrize("name", OWN)
@FEW
@given(spells=SPELLS, scale=st.sampled_from([1 / 24, 7.0, 1000.0]))
def test_estimates_follow_the_unit_of_time(name, spells, scale):
    one, other = fitted(name, lives(spells)), fitted(name, lives(spells, scale))
    hours = [column for column in one.columns if column in IN_HOURS]
    power = pl.col("quantity").replace_strict(
        {"hazard_per_h": -1.0}, default=pl.col("quantity").str.ends_with("_h").cast(pl.Float64)
    )
    estimates = [pl.col(column) * (pl.lit(scale) ** power) for column in ("estimate", "low", "high")]
    expected = one.with_columns(*estimates, *(pl.col(column) * scale for column in hours if column != "quantity"))
    dropped = [column for column in (*UNSCALED, "power_scale", "bias_corrected") if column in one.columns]
    assert_frame_equal(expected.drop(dropped), other.drop(dropped), rel_tol=1e-5, abs_tol=1e-9)


@pytest.mark.parametrize("name", OWN)
@FEW
@given(spells=SPELLS)
def test_a_life_in_two_rows_is_one_life(name, spells):
    frame = lives(spells)
    middle = (pl.col("entry_h") + pl.col("exit_h")) / 2
    first = frame.with_columns(exit_h=middle, event=pl.lit(value=False), cause=pl.lit(None, pl.String))
    halves = pl.concat([first, frame.with_columns(entry_h=middle)])
    assert_frame_equal(fitted(name, frame), fitted(name, halves), rel_tol=1e-5, abs_tol=1e-9)


@pytest.mark.parametrize("name", OWN)
@FEW
@given(spells=SPELLS)
def test_a_number_or_a_reason_for_any_input(name, spells):
    found = fitted(name, lives(spells))
    assert (found["estimate"].is_null() == found["reason"].is_not_null()).all()
    assert found.filter(~pl.col("estimate").is_finite()).is_empty()
    assert found.filter((pl.col("low") > pl.col("estimate")) | (pl.col("high") < pl.col("estimate"))).is_empty()
    assert [column for column in found.columns if column in RESULT] == list(RESULT)


@given(SPELLS)
def test_shares_of_all_causes_and_survival_add_up(spells):
    found = competing_risks(lives(spells)).filter(pl.col("reason").is_null())
    for time in found["time_h"].unique():
        so_far = found.filter(pl.col("time_h") <= time).sort("time_h")
        shares = so_far.group_by("cause").agg(pl.col("estimate").last())["estimate"].sum()
        assert math.isclose(shares + so_far["survival_ratio"][-1], 1.0, abs_tol=1e-9)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2), st.booleans()), min_size=1, max_size=5), min_size=2, max_size=8
    )
)
def test_the_spread_between_units_is_that_of_the_definition(units):
    rows = []
    for unit, spells in enumerate(units):
        at = 0
        for length, pause, failed in spells:
            rows.append((str(unit), float(at), float(at + length), failed))
            at += length + pause
    frame = pl.DataFrame(rows, schema=["unit", "entry_h", "exit_h", "event"], orient="row")
    for row in mcf(frame).filter(pl.col("estimate").is_not_null()).rows(named=True):
        sums = dict.fromkeys(frame["unit"], 0.0)
        for time in {exit_h for *_, exit_h, failed in rows if failed and exit_h <= row["time_h"]}:
            n = sum(entry < time <= exit_h for _, entry, exit_h, _ in rows)
            d = sum(failed and exit_h == time for *_, exit_h, failed in rows)
            for unit, entry, exit_h, failed in rows:
                sums[unit] += ((failed and exit_h == time) - d / n * (entry < time <= exit_h)) / n
        expected = math.sqrt(sum(value**2 for value in sums.values()))
        assert math.isclose(row["standard_error"] or 0.0, expected, rel_tol=1e-6, abs_tol=1e-7)


def test_inspection_intervals_have_one_answer():
    """Decades (1, 10), (10, 100), (100, 1000), on which other software's answer depends on where it starts."""
    frame = pl.DataFrame({"unit": ["a", "b", "c"], "entry_h": [0.0] * 3, "exit_h": [10.0, 100.0, 1000.0], "event": [True] * 3})
    found = weibull(frame.with_columns(last_alive_h=pl.Series([1.0, 10.0, 100.0])))

    def log_likelihood(scale, shape):
        alive = [np.exp(-((hour / scale) ** shape)) for hour in (1.0, 10.0, 100.0, 1000.0)]
        return sum(np.log(a - b) for a, b in pairwise(alive))

    scales, shapes = np.meshgrid(np.geomspace(1, 1000, 1201), np.geomspace(0.05, 20, 1201))
    with np.errstate(divide="ignore"):
        grid = log_likelihood(scales, shapes)
    best = np.unravel_index(grid.argmax(), grid.shape)
    scale, shape = found["estimate"]
    assert found["log_likelihood"][0] >= grid[best] - 1e-12
    assert (scale, shape) == (pytest.approx(scales[best], rel=0.01), pytest.approx(shapes[best], rel=0.01))


def test_families_with_late_entry_are_those_of_the_library():
    from lifelines import LogLogisticFitter, LogNormalFitter, WeibullFitter

    rows = data("multicenter_aids_cohort_study")
    for name, fitter in (("weibull", WeibullFitter), ("lognormal", LogNormalFitter), ("log-logistic", LogLogisticFitter)):
        theirs = fitter().fit(rows["T"], rows["D"], entry=rows["W"])
        ours = models()[name].fit(table(rows, "T", "D", "W"), at_h=4.0)
        assert close(ours["log_likelihood"][0], theirs.log_likelihood_, 1e-7)
        assert close(ours["estimate"][2], float(theirs.survival_function_at_times(4.0).iloc[0]))


def test_the_phase_is_read_from_the_interval_of_the_shape():
    chance = np.random.default_rng(7)
    phases = {0.5: "infant mortality", 1.0: "useful life", 3.0: "wear-out"}
    for shape, phase in phases.items():
        hours = chance.weibull(shape, 600) * 1000
        rows = pl.DataFrame({"unit": range(600), "entry_h": [0.0] * 600, "exit_h": hours, "event": [True] * 600})
        assert weibull(rows)["phase"].to_list() == [phase] * 2
    few = rows.head(4).with_columns(exit_h=pl.Series([100.0, 200.0, 300.0, 2000.0]))
    assert weibull(few)["phase"][0] == "undetermined"
    lognormal = rows.with_columns(exit_h=pl.Series(np.exp(chance.normal(7, 1, 600))))
    assert weibull(lognormal)["phase"][0] == "undetermined", "another family is far better"


def test_units_that_differ_are_no_infant_mortality():
    """Units of constant but different rates: gaps look like a falling hazard, first failures hardly so; no phase is read."""
    chance, rows = np.random.default_rng(3), []
    for unit in range(200):
        rate, at = chance.gamma(0.6) / 300, 0.0
        while at < 500:
            end = min(at + chance.exponential(1 / rate), 500.0)
            rows.append((str(unit), at, end, end < 500))
            at = end
    frame = pl.DataFrame(rows, schema=["unit", "entry_h", "exit_h", "event"], orient="row")
    gaps, first = weibull(frame, failures="gaps"), weibull(frame, failures="first")
    assert gaps["high"][1] < 0.9
    assert gaps["estimate"][1] < first["estimate"][1] - 0.05
    assert gaps["phase"][1] == "undetermined"
    assert first["events"][0] == frame.filter("event")["unit"].n_unique() < gaps["events"][0]


def test_ignoring_entry_is_another_answer():
    chance = np.random.default_rng(11)
    lived, entered = chance.weibull(1.5, 4000) * 1000, chance.uniform(0, 1500, 4000)
    seen = lived > entered
    rows = pl.DataFrame(
        {"unit": range(int(seen.sum())), "entry_h": entered[seen], "exit_h": lived[seen], "event": [True] * int(seen.sum())}
    )
    honoured, ignored = weibull(rows), weibull(rows.with_columns(entry_h=0.0))
    assert honoured["low"][1] < 1.5 < honoured["high"][1]
    assert ignored["low"][1] > 1.8


def test_a_trend_is_found_per_class_and_states_what_it_could_find():
    times = np.sort(1000 * np.random.default_rng(5).uniform(size=60) ** 0.4)
    starts = np.concatenate([[0.0], times])
    spans = [("a", a, b, True, "gpu") for a, b in zip(starts, times, strict=False)] + [("a", starts[-1], 1000.0, False, None)]
    frame = pl.DataFrame(spans, schema=["unit", "entry_h", "exit_h", "event", "cause"], orient="row")
    found = trend(frame, per_cause=True)
    assert found["trend"][1] == "rising"
    assert found["min_detectable_ratio"][1] == pytest.approx(math.exp((norm.ppf(0.975) + norm.ppf(0.8)) / math.sqrt(60)))
    assert found["cause"].to_list() == ["gpu"] * 3


REFUSED = [
    ("weibull", {"covariates": "colour"}, "'colour': no column"),
    ("weibull", {"shape": -1.0}, "shape -1.0"),
    ("weibull", {"shape": 1.0, "covariates": "x"}, "no covariates"),
    ("weibull", {"failures": "all"}, "one of one, first, gaps"),
    ("weibull", {"at_h": [-1.0]}, "at_h"),
    ("weibull", {"constant_within": 0.5}, "constant_within"),
    ("cox", {"covariates": "broken"}, "'broken', row 2"),
    ("cox", {"covariates": "unit_name"}, "60 values are no covariate"),
    ("cox", {"ties": "exact"}, "efron, breslow"),
    ("piecewise", {"cuts_h": [math.nan]}, "cuts_h"),
    ("trend", {"truncation": "never"}, "time, failure"),
    ("mcf", {"by": "colour"}, "'colour': no column"),
    ("log-rank", {"groups": "colour"}, "'colour': no column"),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_a_wrong_question_is_refused_with_its_column(name, options, message):
    frame = lives([(0, 5 + i, i % 3 == 0) for i in range(60)])
    frame = frame.with_columns(broken=pl.when(pl.col("unit") != "1").then(1.0), unit_name=pl.lit("n") + pl.col("unit"))
    with pytest.raises(ValueError, match=message):
        models()[name].fit(frame, **options)


def test_last_alive_must_lie_inside_its_row():
    frame = lives([(5, 5, True), (0, 9, True)]).with_columns(last_alive_h=pl.Series([2.0, 3.0]))
    with pytest.raises(ValueError, match=r"'last_alive_h': 2\.0"):
        weibull(frame)


@pytest.mark.parametrize("model", LIFETIMES)
def test_limits_hold_the_truth_as_often_as_they_say(model):
    """Fifty simulated fleets: a count below the 1 in 1,000 tail of the binomial of 95 % is a defect."""
    held, asked = coverage(LIFETIMES[model], 50)
    assert binom.ppf(0.001, asked, 0.95) <= held


@pytest.mark.parametrize("hour", [1e-12, 3.6e12])
def test_hours_that_are_another_unit_are_refused(hour):
    frame = lives([(0, 1, True), (0, 2, True)]).with_columns(exit_h=pl.Series([hour, 2 * hour]))
    with pytest.raises(ValueError, match=r"'exit_h', row 1.*give hours"):
        weibull(frame)
