"""Models over cells: reference values, known traps, promises for any input, and how often limits hold the truth."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import binom, nbinom, ncx2

from bathtub.survival import RESULT, models
from bathtub.survival._glm import Cells, negative_binomial, poisson
from bathtub.survival._noncentral import detectable, limits
from bathtub.survival._spread import dispersion, q_values
from bathtub.survival.cox import cox
from bathtub.survival.diurnal import diurnal
from bathtub.survival.mtbf import mtbf
from bathtub.survival.ranking import ranking, shrunk
from bathtub.survival.rate_ratio import rate_ratio
from bathtub.survival.thermal import thermal
from bench.bench_coverage import CELLS, coverage, day, nodes


@pytest.fixture(scope="module")
def values(corpus: Path) -> dict:
    file = corpus.parent / "reference" / "values" / "inline.json"
    if not file.exists():
        pytest.skip("the reference values are not on this machine")
    return {value["id"]: value["value"] for value in json.loads(file.read_text())["values"]}


def close(found: float, expected: float, tolerance: float) -> bool:
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-9)


def test_false_discoveries_are_those_of_the_reference(values):
    family = values["benjamini_hochberg"]
    assert np.allclose(q_values(np.array(family["p"])), family["q"], rtol=1e-9)
    assert np.isnan(q_values(np.array([np.nan, 0.2]))[0]), "what was not tested is no part of the family"
    assert q_values(np.array([np.nan, 0.2]))[1] == 0.2


@pytest.mark.parametrize("name", ["rate_ratio", "rate_ratio_zero"])
def test_rate_ratios_of_the_reference(values, name):
    case = values[name]
    cells = pl.DataFrame({"v": ["a", "b"], "failures": [case["r1"], case["r2"]], "exposure_h": [case["T1"], case["T2"]]})
    found = rate_ratio(cells).row(0, named=True)
    for column, expected in zip(("estimate", "low", "high", "p_value"), (case["rr"], *case["ci"], case["p"]), strict=True):
        assert close(found[column], expected, 1e-6)


def test_the_regression_of_the_reference(values):
    case = values["harmonic_poisson"]
    angle = 2 * np.pi * (np.array(case["hour"]) + 0.5) / 24
    x = np.column_stack([np.ones(48), np.cos(angle), np.sin(angle), case["weekend"]])
    found = poisson(Cells(x, np.array(case["failures"], float), np.array(case["exposure"], float)))
    assert np.allclose(found.coefficients, list(case["coef"].values()), rtol=1e-6)
    assert np.allclose(found.errors, list(case["se"].values()), rtol=1e-6)
    assert close(found.log_likelihood, case["loglik"], 1e-6)


def test_shrunk_rates_of_the_reference(values):
    for row in values["shrinkage"]:
        rate, low, high = shrunk(np.array([float(row["r"])]), np.array([float(row["T"])]), row["a"], row["b"], 0.95)
        assert close(rate[0], row["rate"], 1e-12)
        assert low[0] < rate[0] < high[0]


def test_arrhenius_says_the_slope_in_other_words(values):
    cells = pl.DataFrame({"temperature_c": [55, 65], "failures": [10, 30], "exposure_h": [100.0, 100.0]})
    slope, energy = thermal(cells)["estimate"]
    for row in values["thermal_slope"]:
        assert row["t_c"] == 60
        assert close(energy / slope, row["ea"] / row["slope"], 1e-6)


def test_the_amplitude_that_could_be_found(values):
    assert close(detectable(), values["detectable_amplitude"], 1e-8)
    for n, amplitude in ((419, 0.2145), (1927, 0.1)):
        assert close(math.sqrt(2 * detectable() / n), amplitude, 1e-3)


@pytest.mark.parametrize(
    ("gpus", "hours"), [(16_384, 1.803), (131_072, 0.225), (1024, 28.8)], ids=["as printed", "as printed too", "printed 7.9"]
)
def test_the_mtbf_of_a_cluster_by_its_size(gpus, hours):
    """6.50 per 1,000 node-days; the 7.9 h printed for 1,024 GPUs do not follow from it, and nothing makes them."""
    cells = pl.DataFrame({"failures": [13], "exposure_h": [48_000.0]})
    one, many = (mtbf(cells, n_units=n).row(0, named=True) for n in (1, gpus // 8))
    assert close(many["estimate"], hours, 5e-3)
    for column in ("estimate", "low", "high", "lower_bound"):
        assert close(many[column], one[column] / (gpus // 8), 1e-12)


def test_detectable_slope_is_that_of_the_spread_of_temperature():
    """Sd 4 C and 30,000 failures: an error of 1/(4 x sqrt(n)) = 0.00144, detectable 0.0040."""
    degrees = np.arange(40.0, 81.0)
    share = np.exp(-(((degrees - 60) / 4) ** 2) / 2)
    counts = np.round(30_000 * share / share.sum())
    found = thermal(pl.DataFrame({"temperature_c": degrees, "failures": counts, "exposure_h": 1e6 * share})).row(0, named=True)
    assert close(found["standard_error"], 0.001443, 1e-2)
    assert close(found["min_detectable_slope"], 0.00404, 1e-2)
    assert found["effect"] == "none found"


def test_temperature_averaged_over_vendors_and_hours_is_refused_where_cells_are_right():
    """Two vendors, one hotter and worse for another reason; within each the slope is 0.043."""
    chance, rows = np.random.default_rng(4), []
    for vendor, offset, factor in (("a", 0.0, 1.0), ("b", 1.0, 4.0)):
        for hour in range(24):
            for degrees in np.arange(45.0, 76.0):
                hours = 2e5 * math.exp(-(((degrees - 60 - offset) / 4) ** 2) / 2)
                rate = 1e-5 * factor * math.exp(0.043 * (degrees - 60))
                rows.append((vendor, hour, degrees, chance.poisson(rate * hours), hours))
    cells = pl.DataFrame(rows, schema=["vendor", "hour", "temperature_c", "failures", "exposure_h"], orient="row")
    right = thermal(cells).row(0, named=True)
    assert right["low"] < 0.043 < right["high"] < 0.06
    heat = (pl.col("temperature_c") * pl.col("exposure_h")).sum() / pl.col("exposure_h").sum()
    averaged = cells.group_by("vendor", "hour").agg(heat.alias("temperature_c"), pl.col("failures", "exposure_h").sum())
    assert thermal(averaged)["reason"].to_list() == ["averaged_temperature"] * 2
    wrong = thermal(averaged.drop("vendor", "hour")).row(0, named=True)
    assert wrong["estimate"] > 0.5, "what the refusal keeps from being said"


def test_risk_sets_are_those_of_cox():
    """Hourly rows of 30 units into Cox, and units counted by temperature at the failure hours into cells: one coefficient."""
    chance = np.random.default_rng(2)
    degrees = chance.integers(50, 60, (30, 40)).astype(float)
    failed = chance.uniform(size=degrees.shape) < 0.03 * np.exp(0.1 * (degrees - 55))
    unit, hour = (grid.ravel() for grid in np.meshgrid(np.arange(30), np.arange(40), indexing="ij"))
    rows = pl.DataFrame(
        {"unit": unit, "entry_h": hour * 1.0, "exit_h": hour + 1.0, "event": failed.ravel(), "heat": degrees.ravel()}
    )
    theirs = cox(rows, covariates="heat", ties="breslow").row(0, named=True)
    at_risk = rows.filter(pl.col("event").any().over("exit_h")).rename({"exit_h": "risk_set", "heat": "temperature_c"})
    cells = at_risk.group_by("risk_set", "temperature_c").agg(
        failures=pl.col("event").sum(), exposure_h=pl.len().cast(pl.Float64)
    )
    ours = thermal(cells).row(0, named=True)
    assert close(ours["estimate"], theirs["coefficient"], 1e-7)
    assert close(ours["standard_error"], theirs["standard_error"], 1e-7)


def test_hours_of_their_own_luck_widen_the_limits():
    plain, wide = (diurnal(day(np.random.default_rng(8), 0.25, shape)).row(0, named=True) for shape in (None, 0.7))
    assert plain["theta"] is None
    assert wide["theta"] < 2
    assert wide["min_detectable_amplitude"] > 1.4 * plain["min_detectable_amplitude"]


def test_short_hours_among_long_ones_are_no_overdispersion():
    """A failure in one of many short spells: chi2 by its table would say p below 1e-9, of what happens once in ten times."""
    hours = np.array([1000.0] * 20 + [1.0] * 100)
    counts = np.array([5.0] * 20 + [1.0] + [0.0] * 99)
    phi, p, n_free = dispersion(counts, hours, np.zeros(120, int))
    assert (n_free, p > 0.05, phi < 2.5) == (119, True, True)


def test_lemons_stand_out_of_the_usual_spread_only():
    chance = np.random.default_rng(6)
    counts, hours = nodes(chance, 200, 1 / 500, 2.0)
    found = ranking(pl.DataFrame({"node": range(200), "failures": counts, "exposure_h": hours}))
    assert not found["is_lemon"].any()
    assert (found["poisson_q_value"] <= 0.05).sum() > 5, "Poisson makes lemons of chance"
    counts[17], hours[17] = 60, 1000.0
    found = ranking(pl.DataFrame({"node": range(200), "failures": counts, "exposure_h": hours}))
    assert found.filter("is_lemon")["node"].to_list() == [17] == found["node"].to_list()[:1]
    assert found["estimate"][0] < found["raw_rate_per_h"][0], "shrunk"
    assert found["rank"].to_list()[:3] == [1, 2, 3]


def test_a_unit_of_few_hours_is_no_lemon_for_its_raw_rate():
    counts, hours = np.array([40, 10, 25, 5, 1]), np.array([9000.0, 9000.0, 9000.0, 9000.0, 20.0])
    found = ranking(pl.DataFrame({"node": range(5), "failures": counts, "exposure_h": hours}))
    assert found.sort("raw_rate_per_h", descending=True)["node"][0] == 4
    assert found["node"][0] == 0


COUNTS = st.integers(0, 300)
HOURS = st.floats(1.0, 1e7)


@given(st.tuples(COUNTS, COUNTS).filter(any), HOURS, HOURS, st.floats(0.8, 0.99))
def test_limits_of_a_ratio_leave_the_right_tails(counts, one, other, level):
    cells = pl.DataFrame({"v": ["a", "b"], "failures": counts, "exposure_h": [one, other]})
    row, turned = rate_ratio(cells, level).rows(named=True)
    tail = (1 - level) / 2
    for bound, far in ((row["low"], binom.sf), (row["high"], binom.cdf)):
        if bound:
            share = bound * one / (bound * one + other)
            assert math.isclose(far(counts[0] - (far == binom.sf), sum(counts), share), tail, rel_tol=1e-5)
    assert math.isclose(row["low"] * (turned["high"] or math.inf), 1.0, rel_tol=1e-9) or not row["low"]
    assert row["p_value"] == pytest.approx(turned["p_value"])


@settings(max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=30).filter(any), st.floats(0.1, 3.0))
def test_no_negative_binomial_is_likelier(counts, step):
    y, hours = np.array(counts, float), np.linspace(1, 4, len(counts))
    cells = Cells(np.ones((len(y), 1)), y, hours)
    found = negative_binomial(cells, poisson(cells))
    if found.theta is None:
        return
    rate = math.exp(found.coefficients[0])

    def value(rate: float, theta: float) -> float:
        return float(nbinom.logpmf(y, theta, theta / (theta + rate * hours)).sum())

    assert math.isclose(found.log_likelihood, value(rate, found.theta), rel_tol=1e-6)
    for other in (
        value(rate * math.exp(step), found.theta),
        value(rate, found.theta * math.exp(step)),
        value(rate, found.theta / 2),
    ):
        assert other <= found.log_likelihood + 1e-6


@pytest.mark.parametrize("truth", [0.0, 1.0, 9.0])
def test_limits_of_an_amplitude_hold_as_often_as_stated_whatever_the_truth(truth):
    """Over the quantiles of the statistic, two hundred of equal weight."""
    grid = (np.arange(200) + 0.5) / 200
    x = -2 * np.log(1 - grid) if truth == 0 else ncx2.ppf(grid, 2, truth)
    found = [limits(float(value), 0.95) for value in x]
    assert abs(np.mean([low <= truth <= high for low, high in found]) - 0.95) <= 0.01
    for value, (low, _) in zip(x, found, strict=True):
        assert (low > 0) == (math.exp(-value / 2) < 0.05), "0 where the test does not reject, and only there"


ANY_CELLS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 6) | st.sampled_from([10**6, 10**9]),
        st.none() | st.sampled_from([0.0, 1e-9, 1e-3, 5.0, 100.0, 1e7, 1e12]),
        st.sampled_from(["a", "b", None]),
        st.integers(0, 23),
        st.integers(45, 60),
    ),
    max_size=40,
)
SURE_CELLS = st.lists(
    st.tuples(
        st.integers(0, 6), st.sampled_from([5.0, 100.0]), st.sampled_from(["a", "b"]), st.integers(0, 23), st.integers(45, 60)
    ),
    min_size=1,
    max_size=40,
)
OWN = ["diurnal", "ranking", "rate-ratio", "thermal"]
SCHEMA = {"failures": pl.Int64, "exposure_h": pl.Float64, "v": pl.String, "hour": pl.Int64, "temperature_c": pl.Int64}


def fitted(name: str, rows: list[tuple]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return models()[name].fit(frame, **({"compare": "v"} if name == "rate-ratio" else {}))


@pytest.mark.parametrize("name", OWN)
@given(rows=ANY_CELLS | SURE_CELLS)
def test_a_number_or_a_reason_for_any_cells(name, rows):
    found = fitted(name, rows)
    assert (found["estimate"].is_null() == found["reason"].is_not_null()).all()
    assert found.filter((pl.col("low") > pl.col("estimate")) | (pl.col("high") < pl.col("estimate"))).is_empty()
    for column in found.select(pl.selectors.float()).columns:
        assert found[column].is_finite().all(), column
    assert [column for column in found.columns if column in RESULT] == list(RESULT)


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=30)
@given(rows=SURE_CELLS)
def test_the_order_of_cells_does_not_matter(name, rows):
    labels = ("v", "hour", "temperature_c", "events", "exposure_h", "quantity")
    one, other = (fitted(name, order) for order in (rows, rows[::-1]))
    one, other = (found.sort([label for label in labels if label in found.columns]) for found in (one, other))
    assert_frame_equal(one, other, rel_tol=1e-5, abs_tol=1e-7)


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=30)
@given(rows=SURE_CELLS)
def test_ratios_do_not_depend_on_the_unit_of_time(name, rows):
    scaled = [(failures, hours * 24, *rest) for failures, hours, *rest in rows]
    power = pl.col("quantity").str.ends_with("_per_h").cast(pl.Float64)
    columns = [pl.col(name) / 24**power for name in ("estimate", "low", "high")]
    one, other = fitted(name, rows).select(*columns, "reason"), fitted(name, scaled).select("estimate", "low", "high", "reason")
    assert_frame_equal(one, other, rel_tol=1e-5, abs_tol=1e-7)


REFUSED = [
    ("rate-ratio", {"compare": "colour"}, "'colour': no column"),
    ("rate-ratio", {"reference": "a"}, "name the one column"),
    ("rate-ratio", {"compare": "v", "reference": "z"}, "no such value in column 'v'"),
    ("rate-ratio", {"by": ["v", "hour", "temperature_c", "is_weekend", "kelvin"]}, "nothing to compare"),
    ("ranking", {"within": "colour"}, "'colour': no column"),
    ("ranking", {"false_share": 5}, "false_share 5"),
    ("diurnal", {"hour": "temperature_c"}, "row 1: 45; give the hour of the day"),
    ("diurnal", {"hour": "v"}, "'v', row 1: 'a'; leave out the cells"),
    ("diurnal", {"weekend": "v"}, "'v', row 1: 'a'; give true or false"),
    ("diurnal", {"n_harmonics": 3}, "give one of 1, 2"),
    ("thermal", {"temperature": "colour"}, "'colour': no column"),
    ("thermal", {"temperature": "v"}, "leave out the cells where it is not known"),
    ("thermal", {"terms": "colour"}, "'colour': no column"),
    ("thermal", {"temperature": "kelvin"}, "'kelvin', row 1: 333000; give a number from -273.15 to 1000"),
    ("mtbf", {"n_units": 0}, "n_units 0"),
    ("mtbf", {"n_units": 2.5}, "n_units 2.5"),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_a_wrong_question_is_refused_with_its_column(name, options, message):
    rows = [(1, 9.0, "a", 3, 45), (2, 9.0, "b", 9, 50)]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(is_weekend=pl.lit(value=False), kelvin=pl.lit(333_000))
    with pytest.raises(ValueError, match=message):
        models()[name].fit(frame, **options)


def test_a_label_of_too_many_words_is_no_term():
    frame = pl.DataFrame(
        {"serial": [f"s{n // 2}" for n in range(120)], "temperature_c": range(120), "failures": 1, "exposure_h": 9.0}
    )
    with pytest.raises(ValueError, match="'serial': 60 values are no term"):
        thermal(frame)


@pytest.mark.parametrize(
    ("failures", "hours", "column"), [(1, 1e-12, "exposure_h"), (1, 1e13, "exposure_h"), (10**10, 1.0, "failures")]
)
def test_numbers_of_another_unit_are_refused(failures, hours, column):
    with pytest.raises(ValueError, match=f"'{column}', row 1.*; give"):
        mtbf(pl.DataFrame({"failures": [failures], "exposure_h": [hours]}))


def test_hours_of_devices_bear_either_name():
    cells = pl.DataFrame({"failures": [10], "exposure_h": [1000.0]})
    assert mtbf(cells.rename({"exposure_h": "device_hours"})).equals(mtbf(cells))


@pytest.mark.parametrize("model", CELLS)
def test_limits_hold_the_truth_as_often_as_they_say(model):
    """Fifty simulated fleets: a count below the 1 in 1,000 tail of the binomial of 95 % is a defect."""
    held, asked = coverage(CELLS[model], 50)
    assert asked == 50
    assert binom.ppf(0.001, asked, 0.95) <= held
