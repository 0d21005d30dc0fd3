"""Rates: cells add up by every clock, another choice is judged as from the start, and each report says what it rests on."""

import csv
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import Phase, settings
from hypothesis import given as over
from hypothesis import strategies as st

from bathtub.config import Config
from bathtub.nightly import variants
from bathtub.reports import Context, reports
from bathtub.survival import Model
from bathtub.warehouse import build, checks, connect, rebuild
from tests import frames
from tests.inbox import FILES, run, write

CONTEXT = Context("r1", "k1", 0.95, 5.0, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC))
ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", None)


def report(name: str, **marts: pl.DataFrame) -> list[dict[str, str]]:
    """The rows of a report as a reader of the CSV has them."""
    return list(csv.DictReader(io.StringIO(reports()[name].csv(marts, CONTEXT).content.decode())))


def cells(*rows: tuple[str, str, str, int, float | None, int | None]) -> pl.DataFrame:
    """Rows of reliability_cells: component, exposure_class, exposure_kind, failures, exposure_h, n_devices."""
    names = ("component", "exposure_class", "exposure_kind", "failures", "exposure_h", "n_devices")
    frame = pl.DataFrame(rows, schema=names, orient="row").cast({"exposure_h": pl.Float64, "n_devices": pl.Int64})
    return frame.with_columns(population=pl.lit("c"), is_readable=pl.lit(value=True))


def lives(*rows: tuple[str, float, float, str | None, bool], exit_kind: str = "window_end") -> pl.DataFrame:
    """Rows of lifetimes of GPUs in service: unit, entry_h, exit_h, cause, age_known."""
    frame = pl.DataFrame(rows, schema=["unit", "entry_h", "exit_h", "cause", "age_known"], orient="row")
    event = pl.col("cause").is_not_null()
    return frame.cast({"cause": pl.String}).with_columns(
        event=event,
        n_failures=event.cast(pl.Int64),
        n_failures_before=pl.lit(0),
        exit_kind=pl.when(event).then(pl.lit("failed")).otherwise(pl.lit(exit_kind)),
        calendar_entry_h="entry_h",
        calendar_exit_h="exit_h",
        population=pl.lit("c"),
        exposure_class=pl.lit("gpu"),
        exposure_kind=pl.lit("in_service"),
    )


@settings(max_examples=10, phases=(Phase.explicit, Phase.generate))
@over(frames.lakes(), st.sampled_from(ZONES), st.sampled_from((-0.5, 13.4, None)))
def test_cells_add_up_by_every_clock(lake: Mapping[str, pl.DataFrame], zone: str | None, longitude: float | None) -> None:
    inputs = frames.given(lake, datetime(2026, 4, 7, tzinfo=UTC))
    clocks = {"zone": pl.lit(zone, pl.String), "longitude_deg": pl.lit(longitude, pl.Float64)}
    inputs["parameters"] = inputs["parameters"].with_columns(**clocks)
    with connect() as con:
        build(con, inputs)
        for name in ("cells_add_up", "lifetimes_add_up", "failures_add_up"):
            assert con.execute(checks()[name]).fetchall() == [], name


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_choice_is_judged_as_from_the_start_and_what_was_built_stays(seed: int) -> None:
    inputs = frames.given(frames.random_lake(seed, 40), datetime(2026, 4, 7, tzinfo=UTC))
    changed = {
        "parameters": inputs["parameters"].with_columns(burst_gap_s=pl.lit(600.0)),
        "rules": inputs["rules"].filter(pl.col("confidence") != "low"),
    }
    with connect() as con:
        build(con, {**inputs, **changed}, ["reliability_cells"])
        expected = con.table("reliability_cells").pl()
    with connect() as con:
        build(con, inputs)
        before = con.table("reliability_cells").pl()
        assert rebuild(con, changed, "reliability_cells").equals(expected)
        assert con.table("reliability_cells").pl().equals(before)
        assert con.table("parameters").pl().equals(inputs["parameters"])


def test_choices_are_the_gap_and_the_rules() -> None:
    inputs = frames.given(frames.random_lake(1, 10), datetime(2026, 4, 7, tzinfo=UTC))
    with connect() as con:
        build(con, inputs, ["reliability_cells"])
        found = variants(con, Config(), inputs)
    assert found["variant"].unique().sort().to_list() == ["burst gap x 0.5", "burst gap x 2", "no rules of low confidence"]


def test_a_rate_under_other_choices_stands_beside_the_configured_one() -> None:
    configured = cells(("gpu", "gpu", "in_service", 4, 1000.0, 2), ("gpu", "gpu", "observed", 4, 500.0, 2))
    other = cells(("gpu", "gpu", "in_service", 6, 1000.0, 2), ("gpu", "gpu", "observed", 0, 500.0, 2))
    rows = report(
        "sensitivity", reliability_cells=configured, rate_variants=other.with_columns(variant=pl.lit("burst gap x 0.5"))
    )
    told = [
        (row["exposure_kind"], row["variant"], row["estimate"], row["reason"], row["rate_to_configured_ratio"]) for row in rows
    ]
    assert told == [
        ("in_service", "as configured", "250", "", "1"),
        ("in_service", "burst gap x 0.5", "166.667", "", "1.5"),
        ("observed", "as configured", "125", "", "1"),
        ("observed", "burst gap x 0.5", "", "no_failures", ""),
    ]
    assert [row["rate_to_in_service_ratio"] for row in rows] == ["1", "1", "2", ""]


def test_failures_per_instance_hour_and_the_mtbf_of_a_cluster_as_published() -> None:
    """417 failures on 2,000 instances in 1,296 h: 0.0161 % per instance-hour; 512 of 0.04 % fail every 4.88 h."""
    rows = report("cluster_mtbf", reliability_cells=cells(("os", "node", "in_service", 417, 2000 * 1296.0, 2000)))
    one = next(row for row in rows if (row["scope"], row["n_instances"]) == ("all", "1"))
    assert round(100 * float(one["failures_per_instance_h"]), 4) == 0.0161
    assert {row["n_instances"] for row in rows} == {"1", "8", "64", "256", "512", "1024", "2000", "2048"}
    rows = report("cluster_mtbf", reliability_cells=cells(("os", "node", "in_service", 4, 10_000.0, 16)))
    many = next(row for row in rows if (row["scope"], row["n_instances"]) == ("all", "512"))
    assert round(float(many["estimate"]), 2) == 4.88
    assert [round(512 * float(many[limit]), 0) for limit in ("low", "high")] == [976, 9175]  # 10,000 h over 10.2416, 1.08987


def test_without_failures_a_cluster_has_a_bound_and_without_hours_nothing() -> None:
    none = report(
        "cluster_mtbf",
        reliability_cells=cells(("software", "gpu", "observed", 3, 800.0, 8), ("os", "node", "observed", 0, 100.0, 1)),
    )
    one = next(row for row in none if row["scope"] != "all" and row["n_instances"] == "1")
    assert (one["estimate"], one["reason"], one["failures_per_instance_h_low"], one["high"]) == ("", "no_failures", "0", "")
    assert float(one["lower_bound"]) == pytest.approx(100 / 2.9957, rel=1e-4)
    unknown = report("cluster_mtbf", reliability_cells=cells(("os", "node", "allocated", 0, None, None)))
    assert {row["reason"] for row in unknown} == {"exposure_unknown"}


def test_lifetimes_say_phase_or_reason() -> None:
    failed = [(f"g{age}", 0.0, float(age), "hbm", True) for age in (900, 950, 980, 1000, 1010, 1030, 1060, 1100)]
    units = lives(*failed, ("old", 0.0, 5000.0, None, False), ("new", 0.0, 500.0, None, True))
    whole = cells(("hbm", "gpu", "in_service", 8, 13_530.0, 10), ("software", "gpu", "in_service", 2, 13_530.0, 10))
    rows = report("lifetimes", lifetimes=units, reliability_cells=whole)
    shape = next(row for row in rows if (row["component"], row["quantity"]) == ("hbm", "shape_ratio"))
    assert (shape["phase"], shape["reason"], shape["events"]) == ("wear-out", "", "8")
    assert (shape["n_units"], shape["n_units_of_unknown_age"], shape["failures_without_unit"]) == ("9", "1", "0")
    assert {row["reason"] for row in rows if row["component"] == "software"} == {"failures_without_unit"}
    share = [row for row in rows if row["model"] == "competing-risks"]
    assert [(row["component"], row["estimate"], row["at_h"]) for row in share] == [("hbm", "1", "1100")]


def test_lifetimes_of_devices_of_unknown_age_are_refused() -> None:
    units = lives(("a", 0.0, 100.0, "hbm", False), ("b", 0.0, 300.0, "hbm", False), ("d", 0.0, 400.0, None, False))
    rows = report("lifetimes", lifetimes=units, reliability_cells=cells(("hbm", "gpu", "in_service", 2, 800.0, 3)))
    assert {row["reason"] for row in rows if row["model"] in ("weibull", "lognormal", "competing-risks")} == {"age_unknown"}


def test_a_trend_stands_for_each_component_and_for_all() -> None:
    """Three of ten units fail within the first 30 h of 1,000 h. Of hbm one of 10 at risk fails, then one of 9."""
    units = lives(*[(f"g{n}", 0.0, 1000.0, None, True) for n in range(10)])
    early = lives(("g0", 0.0, 10.0, "hbm", True), ("g1", 0.0, 20.0, "hbm", True), ("g2", 0.0, 30.0, "gsp", True))
    rows = report("trend", lifetimes=pl.concat([units.filter(~pl.col("unit").is_in(["g0", "g1", "g2"])), early]))
    assert {row["component"] for row in rows} == {"all", "gsp", "hbm"}
    told = {(row["component"], row["quantity"]): row for row in rows}
    assert told["all", "power_shape_ratio"]["trend"] == "falling"
    assert told["all", "failures_per_unit"]["at_h"] == "30"
    assert float(told["hbm", "failures_per_unit"]["estimate"]) == pytest.approx(1 / 10 + 1 / 9, rel=1e-4)


def test_nightly_names_days_without_logs_and_what_every_estimate_rests_on(tmp_path: Path) -> None:
    write(tmp_path / "inbox", {name: content for name, content in FILES.items() if name != "nodes/n02/journal.log"})
    run(tmp_path)
    gaps = pl.read_csv(tmp_path / "out" / "coverage.csv", infer_schema=False)
    assert gaps.select("node", "first_day", "n_days", "gap").rows() == [("n02", "2026-04-01", "1", "no_logs")]
    for name in ("cluster_mtbf", "sensitivity", "lifetimes", "trend", "comparisons", "effects"):
        found = pl.read_csv(tmp_path / "out" / f"{name}.csv", infer_schema=False)
        assert found.height or name in ("comparisons", "effects"), name
        assert "table_refused" not in found["reason"], name
        needed = ("events", "method", "confidence_level", "assumptions", "exposure_kind", "burst_gap_s", "knowledge_version")
        assert not [column for column in needed if found[column].null_count()], name
        assert found.filter(pl.col("estimate").is_null() & pl.col("reason").is_null()).is_empty(), name


def test_reports_of_an_empty_lake_have_their_headers(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    run(tmp_path)
    for each in reports().values():
        assert (tmp_path / "out" / f"{each.name}.csv").read_text().startswith(",".join(name for name, _ in each.columns)), (
            each.name
        )


def stub(name: str, seen: list[pl.DataFrame]) -> Model:
    """A model that keeps what it was asked, and gives one row."""

    def fit(table: pl.DataFrame, level: float = 0.95) -> pl.DataFrame:
        seen.append(table)
        return pl.DataFrame(
            {"quantity": ["x"], "estimate": [2.0], "events": [table["failures"].sum()], "confidence_level": [level]}
        )

    return Model(name, "cells", fit, "a stub")


def asked(monkeypatch: pytest.MonkeyPatch, name: str) -> list[pl.DataFrame]:
    """What the one model that there is will be asked."""
    seen: list[pl.DataFrame] = []
    monkeypatch.setattr("bathtub.reports._estimates.models", lambda: {name: stub(name, seen)})
    return seen


def test_comparisons_ask_of_what_failed_and_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["component", "dimension", "label", "failures", "exposure_h"]
    rows = [
        ("gpu", "vendor", "A", 3, 100.0),
        ("gpu", "vendor", "B", 0, 50.0),
        ("gpu", "vendor", None, 2, 7.0),
        ("gpu", "rack", "r1", 5, 157.0),
        ("gpu", "weekday", "1", 5, 100.0),
        ("gpu", "weekday", "2", 0, 57.0),
        ("nic", "vendor", "A", 0, 10.0),
        ("nic", "vendor", "B", 0, 10.0),
    ]
    more = {"population": pl.lit("c"), "exposure_kind": pl.lit("observed"), "is_readable": pl.lit(value=True)}
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(**more)
    seen = asked(monkeypatch, "rate-ratio")
    found = report("comparisons", exposure_cells=frame)
    assert [table.rows() for table in seen] == [[("A", 3, 100.0), ("B", 0, 50.0)]]
    assert [(row["dimension"], row["estimate"], row["failures_of_unknown_label"]) for row in found] == [("vendor", "2", "2")]
    assert found[0]["exposure_h_of_unknown_label"] == "7"


def test_effects_ask_by_each_clock_and_where_heat_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = {"population": "c", "component": "gpu", "exposure_kind": "observed", "is_readable": True, "failures": 1}
    hours = [
        {**alike, "clock": clock, "hour": 3, "weekday": 6, "is_weekend": True, "exposure_h": 9.0} for clock in ("civil", "solar")
    ]
    heat = [
        {**alike, "vendor": "A", "temperature_bin_c": 60, "civil_hour": 3, "temperature_c": 60.5, "exposure_h": 8.0},
        {**alike, "vendor": None, "temperature_bin_c": None, "civil_hour": None, "temperature_c": None, "exposure_h": 1.0},
    ]
    marts = {"cells_hours": pl.DataFrame(hours), "cells_heat": pl.DataFrame(heat)}
    seen = asked(monkeypatch, "diurnal")
    assert [row["clock"] for row in report("effects", **marts)] == ["civil", "solar"]
    assert seen[0].rows(named=True) == [{"hour": 3, "is_weekend": True, "failures": 1, "exposure_h": 9.0}]
    seen = asked(monkeypatch, "thermal")
    found = report("effects", **marts)
    assert [(row["model"], row["failures_of_unknown_heat"], row["exposure_h_of_unknown_heat"]) for row in found] == [
        ("thermal", "1", "1")
    ]
    assert seen[0].rows(named=True) == [{"temperature_c": 60.5, "vendor": "A", "hour": 3, "failures": 1, "exposure_h": 8.0}]


def test_a_table_that_a_model_cannot_take_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(_table: pl.DataFrame, level: float = 0.95) -> pl.DataFrame:
        message = f"no column at {level}"
        raise ValueError(message)

    monkeypatch.setattr("bathtub.reports._estimates.models", lambda: {"mcf": Model("mcf", "lifetimes", fit, "a stub")})
    rows = report("trend", lifetimes=lives(("a", 0.0, 9.0, None, True)))
    assert [(row["model"], row["component"], row["reason"], row["assumptions"]) for row in rows] == [
        ("mcf", "all", "table_refused", "no column at 0.95")
    ]
