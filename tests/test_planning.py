"""Planning: its cases, its simulations against its closed forms, and where they differ once an assumption is broken.

tests/planning/plan/<case>/{flags.toml, expect.csv, SOURCE}: each row is looked up by table, item, quantity.
tests/planning/preset/<preset>/{expect.csv, SOURCE}: each figure of the preset in order.
"""

import json
import math
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bathtub import cli
from bathtub.knowledge import tables
from bathtub.planning import formulas, simulation
from bathtub.planning.answer import TITLES, answer
from bathtub.planning.flags import Assumptions, Job, Source
from bathtub.planning.rates import counted, read
from bathtub.planning.simulation import World
from bathtub.planning.tables import least_simulated
from tests.cases import TESTS, read_table
from tests.test_survival import same

PLANS = sorted((TESTS / "planning" / "plan").iterdir())
PRESETS = sorted((TESTS / "planning" / "preset").iterdir())
KEY = ("table", "item", "quantity")
RUN = {"rate_per_instance_hour": 2e-4, "instances": 512, "checkpoint_s": 60.0, "recovery_s": 900.0, "peer_recovery_s": 120.0,
       "gpu_hours": 1e7, "availability": 0.95, "lead_h": 48.0, "sizes": "1,4096"}  # fmt: skip


def plan(flags: dict) -> list[dict]:
    parts = [
        kind(**{each.name: flags[each.name] for each in fields(kind) if each.name in flags})
        for kind in (Source, Job, Assumptions)
    ]
    assert set(flags) <= {each.name for kind in (Source, Job, Assumptions) for each in fields(kind)}
    return list(answer(*parts))


def by_key(rows: list[dict]) -> dict[tuple, dict]:
    found = {tuple(row[name] for name in KEY): row for row in rows}
    assert len(found) == len(rows), "one row per table, item, quantity"
    return found


def simulated(broken: dict) -> dict[tuple, dict]:
    return by_key([row for row in plan(RUN | broken) if row["simulated"] is not None])


@pytest.mark.parametrize("case", PLANS, ids=lambda case: case.name)
def test_a_case_gives_its_numbers(case: Path) -> None:
    flags = tomllib.loads((case / "flags.toml").read_text())
    if "reliability" in flags:
        flags["reliability"] = case / flags["reliability"]
    rows = by_key(plan(flags))
    header, expected = read_table(case / "expect.csv")
    for line in expected:
        wanted = dict(zip(header, line, strict=True))
        row = rows[tuple(wanted[name] for name in KEY)]
        for column, value in wanted.items():
            assert same(value, row[column], "printed"), (column, value, row)


def test_no_estimate_stands_without_failures() -> None:
    rows = plan({**RUN, "events": 0, "exposure_h": 1e5, "rate_per_instance_hour": None, "price_per_gpu_h": 2.0})
    about_failures = [row for row in rows if row["item"] != "without failures"]
    assert {row["reason"] for row in about_failures} == {"no_failures"}
    assert all(row["estimate"] is row["simulated"] is None for row in about_failures)
    assert all((row["low"] is None) != (row["high"] is None) for row in about_failures), "one side alone"


@pytest.mark.parametrize("case", PRESETS, ids=lambda case: case.name)
def test_a_preset_stands_beside_what_was_published(case: Path) -> None:
    header, expected = read_table(case / "expect.csv")
    rows = plan({"preset": case.name})
    assert len(rows) == len(expected)
    for row, line in zip(rows, expected, strict=True):
        assert row["source"]
        assert row["reproduces"] != "no" or row["why"], "a difference has its reason"
        for column, value in zip(header, line, strict=True):
            digits = "printed" if column != "published" else "1e-12"
            assert same(value, row[column], digits), (column, value, row)


def test_every_preset_has_its_case_and_is_listed() -> None:
    listed = [row["preset"] for row in plan({"preset": "list"})]
    assert sorted(listed) == sorted(set(tables()["plan_presets"]["preset"])) == [case.name for case in PRESETS]


PUBLISHED = [  # name in the reference, preset, the figures of it in order
    ("AWS OPT-175B instance-hour rate", "opt_175b", [0]),
    ("same with paper's own 419 & 16,384 GPUs", "llama3", [0]),
    ("Llama-3 419/54d MTTI", "llama3", [1]),
    ("AWS Llama-3.1 rate", "llama3", [2]),
    ("AWS MPT-7B rate", "mpt_7b", [0]),
    ("AWS 512 instances at 0.04%/h", "aws_512", [0, 1]),
    ("AWS 256 inst at 0.05%: training-time cut", "aws_256", [0]),
    ("same, failures per WALL-CLOCK hour", "aws_256", [1]),
    ("10M GPU-h on 256x8: days", "aws_256", [2, 3, 4]),
    ("AWS Llama-3 70B 6.5M GPU-h on 256 p5", "aws_llama3_70b", [0]),
    ("AWS checkpointless '80-93%' cut (15-30 -> <2 min)", "checkpointless", [0, 1]),
    ("goodput ceiling 2048 inst @0.0161%/h: 15 / 30 / 2 min recovery", "checkpointless", [3, 2, 4]),
    ("goodput ceiling 512 inst @0.04%/h: 15 / 30 / 2 min recovery", "checkpointless", [6, 5, 7]),
    ("Meta RSC-1 16,384-GPU MTTF", "meta_rsc", [0]),
    ("Meta RSC-1 131,072-GPU MTTF", "meta_rsc", [1]),
    ("Meta 1,024-GPU MTTF (measured)", "meta_rsc", [2]),
]


@pytest.mark.parametrize(("name", "preset", "places"), PUBLISHED, ids=[each[0] for each in PUBLISHED])
def test_the_published_arithmetic_of_the_reference(corpus: Path, name: str, preset: str, places: list[int]) -> None:
    file = corpus.parent / "reference" / "values" / "published.json"
    if not file.exists():
        pytest.skip("the reference values are not on this machine")
    value = next(each for each in json.loads(file.read_text())["values"] if each["name"] == name)
    figures = [plan({"preset": preset})[place] for place in places]
    computed = value["computed"] if isinstance(value["computed"], list) else [value["computed"]]
    assert [row["ours"] for row in figures] == pytest.approx(computed, rel=5e-3)
    if value["reproduces"] is not None:
        assert value["reproduces"] is all(row["reproduces"] != "no" for row in figures)


@pytest.mark.parametrize("seed", range(10))
def test_where_assumptions_hold_the_simulation_agrees(seed: int) -> None:
    rows = simulated({"seed": seed})
    assert len(rows) == 22
    assert [key for key, row in rows.items() if row["agreement"] not in ("yes", None)] == []
    errors = [row["mc_error"] / row["simulated"] for row in rows.values() if row["mc_error"] is not None]
    assert max(errors) < 0.02


SIZE, SPARES = ("sizes", "512", "mtbf_h"), ("spares", "off until needed (Poisson)", "enough_ratio")
RESTART = ("recovery", "checkpoint_restart, failures per productive hour", "goodput")
DIRECTIONS = [  # assumption broken, row, what the simulation is
    ({"weibull_shape": 0.5}, SIZE, "lower"),
    ({"weibull_shape": 0.5}, RESTART, "lower"),
    ({"weibull_shape": 0.5}, SPARES, "lower"),
    ({"weibull_shape": 2.0}, SIZE, "higher"),
    ({"weibull_shape": 2.0}, RESTART, "higher"),
    ({"failures_at_once": 8}, SIZE, "higher"),
    ({"failures_at_once": 8}, RESTART, "higher"),
    ({"failures_at_once": 8}, SPARES, "lower"),
    ({"repair_crews": 5}, SPARES, "lower"),
]


@pytest.mark.parametrize(("broken", "key", "direction"), DIRECTIONS, ids=[f"{each[0]}-{each[1][0]}" for each in DIRECTIONS])
def test_where_an_assumption_is_broken_the_simulation_differs_as_said(broken: dict, key: tuple, direction: str) -> None:
    assert simulated(broken)[key]["agreement"] == f"simulation {direction}"


def test_the_simulated_spares_are_more_where_failures_come_together() -> None:
    key = (*SPARES[:2], "n_spares")
    together = simulated({"failures_at_once": 8})[key]
    assert together["simulated"] > together["estimate"] == pytest.approx(simulated({})[key]["simulated"], abs=1)


def test_failures_that_come_together_are_that_much_rarer() -> None:
    row = simulated({"failures_at_once": 8})[SIZE]
    assert abs(row["simulated"] / 8 - row["estimate"]) < 4 * row["mc_error"] / 8


def test_repair_crews_change_nothing_but_spares() -> None:
    kept = {key: row for key, row in simulated({}).items() if key[0] != "spares"}
    assert {key: row for key, row in simulated({"repair_crews": 5}).items() if key[0] != "spares"} == kept


def test_a_life_is_spent_over_a_long_run_whatever_its_shape() -> None:
    """Over many lives the mean alone counts: the renewal theorem."""
    row = simulated({"weibull_shape": 2.0, "run_h": 1e6})[SIZE]
    assert row["simulated"] == pytest.approx(row["estimate"], rel=0.05)


def test_the_exact_interval_is_within_one_percent_of_the_simulated_least_in_200_cases() -> None:
    """For a checkpoint's cost of 1e-5 to 1 times the MTBF."""
    draw = np.random.default_rng(2026)
    for seed in range(200):
        cost, rate, n = (
            np.exp(draw.uniform(np.log(1e-5), 0)),
            np.exp(draw.uniform(np.log(1e-5), np.log(1e-3))),
            draw.integers(8, 4096),
        )
        mtbf = formulas.mtbf_h(float(rate), int(n))
        seen = simulation.history(float(rate), int(n), World(seed=seed))
        assert seen is not None
        assert least_simulated(seen.gaps_h, formulas.exact_h(cost * mtbf, mtbf), cost * mtbf)[1] <= 1.01, (seed, cost)


def excess(rule, cost: float) -> float:
    return formulas.kept_ratio(formulas.exact_h(cost, 1), cost, 1) / formulas.kept_ratio(rule(cost, 1), cost, 1) - 1


@pytest.mark.parametrize("cost", np.geomspace(1e-8, 20, 200))
def test_the_exact_interval_is_the_minimum_and_the_others_cost_what_is_said(cost: float) -> None:
    best = formulas.exact_h(cost, 1)
    around = [formulas.kept_ratio(best * factor, cost, 1) for factor in (0.9, 0.99, 1, 1.01, 1.1)]
    assert max(around) == around[2]
    assert best + math.log1p(-best) == pytest.approx(-cost, rel=1e-6) or cost > 10
    assert 0 <= excess(formulas.daly_h, cost) + 1e-12 < 0.002
    assert excess(formulas.young_h, cost) <= (0.01 if cost <= 0.16 else math.inf)
    assert excess(formulas.young_h, cost) > (0.01 if cost > 0.17 else -1e-12)


def test_a_recovery_that_starts_anew_lies_between_the_readings() -> None:
    for lost in np.geomspace(1e-4, 0.99, 50):
        assert formulas.running_ratio(lost, "wall_clock") < math.exp(-lost) < formulas.running_ratio(lost, "productive")


def test_backlogs_and_repairs_are_those_of_a_plain_loop() -> None:
    draw = np.random.default_rng(3)
    gaps_h, waits = draw.exponential(1, 500), [0.0]
    for gap_h in gaps_h[:-1]:
        waits.append(max(waits[-1] - gap_h, 0) + 0.8)
    assert simulation._backlog(gaps_h, 0.8) == pytest.approx(waits)
    failed_h, free_h, back_h = np.cumsum(gaps_h), [0.0] * 3, []
    for at_h in failed_h:
        crew = free_h.index(min(free_h))
        free_h[crew] = max(free_h[crew], at_h) + 2.5
        back_h.append(free_h[crew])
    assert sorted(simulation._repaired(failed_h, 2.5, 3)) == pytest.approx(sorted(back_h))


def test_the_mart_gives_what_the_report_gives(tmp_path: Path) -> None:
    report = pl.read_csv(TESTS / "planning" / "plan" / "measured" / "reliability.csv")
    mart = report.rename({"device_hours": "exposure_h"}).with_columns(
        is_readable=pl.col("reason").ne_missing("no_source_read"), exposure_h=pl.col("exposure_h").cast(pl.Float64)
    )
    mart.drop("reason").write_parquet(tmp_path / "reliability_cells.parquet")
    report.write_csv(tmp_path / "reliability.csv")
    found = [read(tmp_path / name, None, None) for name in ("reliability_cells.parquet", "reliability.csv")]
    assert found[0] == found[1]
    assert read(tmp_path / "reliability.csv", "allocated", "alpha").failures == {"cpu": 0, "hbm": 5}


WILD = [
    ({"instances": 8}, "name one source"),
    ({"events": 1, "exposure_h": 10.0, "mtbf_h": 3.0, "instances": 8}, "name one source"),
    ({"events": 1, "instances": 8}, "together"),
    ({"events": 3, "exposure_h": 0.0, "instances": 8}, "no_exposure"),
    ({"events": -3, "exposure_h": 9.0, "instances": 8}, "give a count"),
    ({"events": 10**400, "exposure_h": 9.0, "instances": 8}, "give a count"),
    ({"events": 1, "exposure_h": math.nan, "instances": 8}, "give a count"),
    ({"rate_per_instance_hour": 1e-3}, "give --instances"),
    ({"rate_per_instance_hour": math.inf, "instances": 8}, "failures per instance-hour"),
    ({"rate_per_instance_hour": 1e-320, "instances": 8}, "failures per instance-hour"),
    ({"mtbf_h": 3.0}, "give both"),
    ({"preset": "none"}, "there are opt_175b"),
    ({"reliability": TESTS / "planning" / "plan" / "measured" / "expect.csv"}, "no column"),
    ({**RUN, "availability": 1.0}, "below 1"),
    ({**RUN, "lead_h": None}, "together"),
    ({**RUN, "lead_h": 1e12}, "away at once"),
    ({**RUN, "checkpoint_s": None, "interval_s": 600.0}, "without --checkpoint-s"),
    ({**RUN, "gpu_hours": None, "price_per_gpu_h": 2.0}, "without --gpu-hours"),
    ({**RUN, "checkpoint_s": -1.0}, "above 0"),
    ({**RUN, "recovery_s": math.nan}, "above 0"),
    ({**RUN, "sizes": "8,many"}, "whole numbers"),
    ({**RUN, "sizes": "0"}, "1 to 1,000,000"),
    ({**RUN, "weibull_shape": 0.01}, "Weibull"),
    ({**RUN, "repair_crews": 0}, "crew"),
    ({**RUN, "simulated_failures": 10**9}, "simulated"),
    ({**RUN, "run_h": math.nan}, "run takes"),
]


@pytest.mark.parametrize(("flags", "said"), WILD, ids=range(len(WILD)))
def test_what_cannot_be_planned_with_is_refused_in_words(flags: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plan(flags)


@pytest.mark.parametrize("rate", [1e-15, 1e-9, 1.0, 1e6])
def test_any_rate_gives_finite_numbers_or_none(rate: float) -> None:
    rows = plan(RUN | {"rate_per_instance_hour": rate, "lead_h": 1e-3, "repair_crews": 10**9, "failures_at_once": 10**6})
    numbers = [row[name] for row in rows for name in ("estimate", "low", "high", "simulated", "mc_error")]
    assert all(math.isfinite(number) for number in numbers if number is not None)
    assert all((row["estimate"] is None) == (row["reason"] is not None) for row in rows)


def test_equal_seeds_give_equal_answers_and_every_table_has_a_title() -> None:
    rows = plan(RUN)
    assert rows == plan(RUN)
    assert rows != plan(RUN | {"seed": 8})
    assert {row["table"] for row in rows} < set(TITLES)


def test_limits_of_the_rate_are_those_of_every_figure() -> None:
    """Each estimate lies between its limits, and they are the figures at the limits of the rate."""
    rows = plan({**RUN, "rate_per_instance_hour": None, "events": 20, "exposure_h": 1e5})
    for row in rows:
        if row["low"] is not None and row["high"] is not None:
            assert row["low"] <= row["estimate"] <= row["high"], row
    rate = counted(20, 1e5, 0.95)
    assert by_key(rows)[SIZE]["low"] == pytest.approx(1 / (512 * rate.high))
    assert replace(rate, reason=None) == rate


def test_the_command_prints_tables_and_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["plan", "--mtbf-h", "3.09", "--instances", "2048", "--checkpoint-s", "60"]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            cli.app([*flags, *more])
        assert ended.value.code == 0
    told = capsys.readouterr().out
    assert TITLES["checkpoint"] in told
    rows = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert {row["table"] for row in rows} == {"rate", "sizes", "checkpoint"}
