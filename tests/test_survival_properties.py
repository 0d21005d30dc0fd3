"""Promises of the models for any input, and checks by formulas that the models do not use."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from bathtub.fit import fit
from bathtub.survival import models, read_table
from bathtub.survival.kaplan_meier import kaplan_meier
from bathtub.survival.mtbf import detectable_ratio, mtbf

COUNTS, HOURS, LEVELS = st.integers(1, 5000), st.floats(1e-3, 1e10), st.floats(0.8, 0.999)


def one(failures: int, hours: float, level: float = 0.95, truncation: str = "time") -> dict[str, object]:
    return mtbf(pl.DataFrame({"failures": [failures], "exposure_h": [hours]}), level, truncation).row(0, named=True)


@given(COUNTS, HOURS, LEVELS, st.sampled_from(["time", "failure"]))
def test_limits_contain_the_estimate_and_scale_with_exposure(count, hours, level, truncation):
    row, double = one(count, hours, level, truncation), one(count, 2 * hours, level, truncation)
    assert row["low"] < row["lower_bound"] < row["estimate"] < row["high"]
    assert row["afr_low"] <= row["afr"] <= row["afr_high"]
    for column in ("estimate", "low", "high", "lower_bound"):
        assert math.isclose(double[column], 2 * row[column], rel_tol=1e-12)


@given(st.integers(0, 5000), HOURS, LEVELS)
def test_more_failures_are_a_lower_mtbf(count, hours, level):
    row, more = one(count, hours, level), one(count + 1, hours, level)
    for column in ("estimate", "low", "high", "lower_bound"):
        assert row[column] is None or more[column] < row[column]
    assert more["fit_60"] > row["fit_60"]


@given(HOURS)
def test_without_a_failure_there_is_a_bound_only(hours):
    row = one(0, hours)
    assert math.isclose(row["lower_bound"], hours / 2.995732273553991, rel_tol=1e-12)
    assert (row["estimate"], row["high"], row["reason"]) == (None, None, "no_failures")


@given(COUNTS, LEVELS)
def test_the_limits_leave_the_right_tails_of_the_poisson_sum(count, level):
    row, tail = one(count, 1.0, level), (1 - level) / 2
    assert math.isclose(poisson.cdf(count, 1 / row["low"]), tail, rel_tol=1e-6)
    assert math.isclose(poisson.sf(count - 1, 1 / row["high"]), tail, rel_tol=1e-6)
    assert math.isclose(poisson.cdf(count, 1 / row["lower_bound"]), 1 - level, rel_tol=1e-6)


@pytest.mark.parametrize("count", [10, 72, 419])
def test_the_detectable_ratio_is_found_four_times_in_five(count):
    ratio = detectable_ratio(np.array([float(count)]))[0]
    first, second = np.arange(4 * count + 20)[:, None], np.arange(4 * count + 20)[None, :]
    tail = binom.sf(second, first + second, 0.5) + binom.pmf(second, first + second, 0.5) / 2  # mid-p
    power = (poisson.pmf(first, count) * poisson.pmf(second, ratio * count) * (tail <= 0.025)).sum()
    assert 0.78 < power < 0.82


def lives(spells: list[tuple[int, int, bool]]) -> pl.DataFrame:
    rows = [(str(i), float(entry), float(entry + length), failed) for i, (entry, length, failed) in enumerate(spells)]
    return pl.DataFrame(rows, schema=["unit", "entry_h", "exit_h", "event"], orient="row")


SPELLS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6), st.booleans()), min_size=1, max_size=25)


@given(SPELLS)
def test_survival_is_the_product_over_half_open_intervals(spells):
    survival, last, ended = Fraction(1), 0, math.inf
    spans = [(entry, entry + length) for entry, length, _ in spells]
    exits = [span[1] for span in spans]
    for row in kaplan_meier(lives(spells)).rows(named=True):
        if row["time_h"] is None:
            assert row["reason"] == "no_failures"
            assert not any(failed for *_, failed in spells)
            return
        time = row["time_h"]
        at_risk = sum(entry < time <= entry + length for entry, length, _ in spells)
        died = sum(failed and entry + length == time for entry, length, failed in spells)
        survival *= 1 - Fraction(died, at_risk)
        assert (row["n_at_risk"], row["n_failed"]) == (at_risk, died)
        ended = min(ended, time) if survival == 0 else ended
        assert time > last
        last = time
        hours = sum(min(entry + length, time) - entry for entry, length, _ in spells if entry < time)
        assert math.isclose(row["exposure_h"], hours)
        gap = any(not any(at in range(*spell) for spell in spans) for at in range(min(spans)[0], int(time)))
        zero = survival == 0 and ended < max(exits)
        assert row["reason"] == ("risk_set_emptied" if gap or zero else None)
        if row["reason"] is None:
            assert math.isclose(row["estimate"], survival, abs_tol=1e-12)
            assert survival == 0 or 0 <= row["low"] <= row["estimate"] <= row["high"] <= 1


@given(SPELLS, st.integers(1, 1000))
def test_survival_does_not_depend_on_the_unit_of_time_or_the_order_of_rows(spells, scale):
    frame, columns = lives(spells), ("estimate", "low", "high", "n_at_risk")
    scaled = frame.with_columns(pl.col("entry_h", "exit_h") * scale).reverse()
    assert kaplan_meier(frame).select(columns).equals(kaplan_meier(scaled).select(columns))


def test_units_at_risk_are_not_those_of_the_library():
    from lifelines import KaplanMeierFitter

    frame = lives([(0, 4, True), (0, 10, False), (4, 5, True), (2, 2, False)])
    alone = KaplanMeierFitter().fit(frame["exit_h"].to_numpy(), frame["event"].to_numpy(), entry=frame["entry_h"].to_numpy())
    assert alone.event_table.loc[4.0, "at_risk"] == 4, "counts the unit that enters at 4"
    assert kaplan_meier(frame)["n_at_risk"][0] == 3
    ended = KaplanMeierFitter().fit([1.0, 2.0], [True, True])
    assert ended.confidence_interval_.loc[2.0].tolist() == [0.0, 0.0], "certain death"
    assert kaplan_meier(lives([(0, 1, True), (0, 2, True)]))["high"].to_list()[1] is None


REFUSED = [
    ("cells", "failures\n1\n", "'exposure_h' is missing"),
    ("cells", "failures,exposure_h\n1,10\n1,-5\n", "'exposure_h', row 2.*negative"),
    ("cells", "failures,exposure_h\n1.5,10\n", "'failures', row 1.*whole"),
    ("cells", "failures,exposure_h\n-1,10\n", "'failures', row 1.*negative"),
    ("cells", "failures,exposure_h\n1,NaN\n", "'exposure_h', row 1.*finite"),
    ("cells", "failures,exposure_h\nmany,10\n", "'failures', row 1.*'many'.*number"),
    ("cells", "failures,exposure_h,reason\n1,10,x\n", "'reason'.*rename"),
    ("cells", "", "no readable csv"),
    ("lifetimes", "unit,entry_h,exit_h,event\na,0,1,1\nb,2,2,0\n", "'exit_h', row 2.*later"),
    ("lifetimes", "unit,entry_h,exit_h,event\na,0,,1\n", "'exit_h', row 1.*fill it in"),
    ("lifetimes", "unit,entry_h,exit_h,event\na,0,1,perhaps\n", "'event', row 1.*perhaps"),
    ("lifetimes", "unit,entry_h,exit_h\na,0,1\n", "'event' is missing"),
]


@pytest.mark.parametrize(("reads", "content", "message"), REFUSED)
def test_a_bad_table_is_refused_with_column_row_and_remedy(tmp_path: Path, reads, content, message):
    (tmp_path / "table.csv").write_text(content)
    model = next(each for each in models().values() if each.reads == reads)
    with pytest.raises(ValueError, match=message):
        model.fit(read_table(tmp_path / "table.csv", reads))


def test_rows_are_ready_for_json_and_parquet_reads_like_csv(tmp_path: Path):
    table = pl.DataFrame({"serial": ["007"], "failures": [0], "exposure_h": [50000.0]})
    table.write_csv(tmp_path / "table.csv")
    table.write_parquet(tmp_path / "table.parquet")
    rows = fit("mtbf", tmp_path / "table.csv", level=0.9)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows == fit("mtbf", tmp_path / "table.parquet", level=0.9)
    assert rows[0]["serial"] == "007"
    with pytest.raises(ValueError, match="no model 'weibul'"):
        fit("weibul", tmp_path / "table.csv")
    with pytest.raises(ValueError, match="no option 'colour'; it has truncation"):
        fit("mtbf", tmp_path / "table.csv", colour="red")
    with pytest.raises(ValueError, match=r"\.csv or a \.parquet"):
        fit("mtbf", tmp_path / "table.xlsx")
