"""Every model gives the numbers of its cases: tests/survival/<model>/<case>/{cells.csv|lifetimes.csv, expect.csv, SOURCE}.

SOURCE says where the numbers come from, with a line `tolerance = …`: a relative difference, or `printed`, which is half
a unit of the last digit that stands in expect.csv. `-` is not compared, empty is null. options.toml holds the options.
"""

import math
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

from bathtub.survival import RESULT, Model, models, read_table
from tests.cases import TESTS, folders, name, text
from tests.cases import read_table as read_expected

CELLS = {"serial": ["007", "008", "009"], "failures": [0, 1, 40], "exposure_h": [10.0, 50.0, 7e6], "rack": ["r", "q", "p"]}
EFFECTS = {**CELLS, "hour": ["3", "4", "5"], "temperature_c": ["50", "51", "52"]}
PER_CELL = ("mtbf", "ranking", "rate-ratio")  # one row per cell; the other models of cells tell of effects
LIVES = {"unit": ["1", "2", "3"], "entry_h": [0.0, 0.0, 1.0], "exit_h": [2.0, 3.0, 4.0], "event": [True, False, True]}


def frame_of(model: Model) -> pl.DataFrame:
    if model.reads == "cells":
        return pl.DataFrame(CELLS if model.name in PER_CELL else EFFECTS)
    return pl.DataFrame({**LIVES, "cause": ["gpu", None, "nic"]})


def printed(number: str) -> float:
    digits, _, exponent = number.lower().partition("e")
    return 0.5 * 10 ** (int(exponent or 0) - len(digits.partition(".")[2])) * (1 + 1e-9)


def same(expected: str, found: object, tolerance: str) -> bool:
    if expected == "-" or not expected or not isinstance(found, (int, float)):
        return expected in ("-", text(found))
    if tolerance == "printed":
        return abs(float(expected) - found) <= printed(expected)
    return math.isclose(float(expected), found, rel_tol=float(tolerance), abs_tol=1e-15)


@pytest.mark.parametrize("case", folders("survival"), ids=name)
def test_a_case_gives_its_numbers(case: Path) -> None:
    model, options = models()[case.parent.name], case / "options.toml"
    tolerance = re.search(r"^tolerance = (\S+)$", (case / "SOURCE").read_text(), re.MULTILINE)[1]
    header, expected = read_expected(case / "expect.csv")
    chosen = tomllib.loads(options.read_text()) if options.exists() else {}
    found = model.fit(read_table(case / f"{model.reads}.csv", model.reads), **chosen).rows(named=True)
    assert len(found) == len(expected)
    for row, line in zip(found, expected, strict=True):
        for column, value in zip(header, line, strict=True):
            assert same(value, row[column], tolerance), (column, value, row[column])


def test_every_model_has_a_case_and_every_case_a_model() -> None:
    assert {case.parent.name for case in folders("survival")} == set(models())
    assert all((case / "SOURCE").exists() for case in folders("survival"))
    assert {folder.name for folder in (TESTS / "survival").iterdir()} == set(models())


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_the_contract_of_every_model(model: Model) -> None:
    given = frame_of(model)
    found = model.fit(given, level=0.9)
    start = found.columns.index("quantity")
    assert dict(list(found.schema.items())[start : start + len(RESULT)]) == dict(RESULT)
    if model.name in PER_CELL:
        assert found.columns[: found.columns.index("rack") + 1] == ["serial", "rack"], "labels stay, in front, in order"
        assert sorted(found["serial"]) == CELLS["serial"]
    assert (found["estimate"].is_null() == found["reason"].is_not_null()).all(), "a number or a reason"
    assert found.filter((pl.col("low") > pl.col("estimate")) | (pl.col("high") < pl.col("estimate"))).is_empty()
    assert found["confidence_level"].to_list() == [0.9] * len(found)
    assert found["assumptions"].null_count() == 0
    assert found.equals(model.fit(given, level=0.9)), "the same twice"


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_a_model_refuses_rather_than_invents(model: Model) -> None:
    quiet = (
        {"failures": pl.lit(0)} if model.reads == "cells" else {"event": pl.lit(value=False), "cause": pl.lit(None, pl.String)}
    )
    for frame in (frame_of(model).with_columns(**quiet), frame_of(model).clear()):
        found = model.fit(frame)
        assert found["estimate"].null_count() == found["reason"].is_not_null().sum() == len(found)
        assert found.schema == model.fit(frame_of(model)).schema
    for level in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match="confidence level"):
            model.fit(frame_of(model), level=level)
