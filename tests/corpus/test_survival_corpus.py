"""The models over the fault trace of 400 servers give the reference values, which were made with other software."""

import json
import math
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from bathtub.survival.competing_risks import competing_risks
from bathtub.survival.mcf import mcf
from bathtub.survival.mtbf import mtbf
from bathtub.survival.trend import trend
from bathtub.survival.weibull import weibull

SERVERS, LAST = 400, 348.9798  # the window of the reference, in days, which stand for hours here
SCHEMA = ["unit", "entry_h", "exit_h", "event", "cause"]


@pytest.fixture(scope="module")
def values(corpus: Path) -> dict:
    file = corpus.parent / "reference" / "values" / "infinitehbd.json"
    if not file.exists():
        pytest.skip("the reference values are not on this machine")
    return {value["id"]: value["value"] for value in json.loads(file.read_text())["values"]}


@pytest.fixture(scope="module")
def faults(corpus: Path) -> dict[str, list[tuple[float, float, str]]]:
    """Start, end and class of the hardware faults of each server."""
    trace = json.loads((corpus / "scheduler/stepfun-InfiniteHBD-Trace/fault_trace.json").read_text())
    running, found = defaultdict(list), defaultdict(list)
    for record in trace:
        kind = record["fault_type"]
        key = record["node_id"], kind["Level"], kind["Class"], kind["Desc"]
        if record["event_type"] == "fault_start":
            running[key].append(record["event_time"])
        elif kind["Level"] == "Hardware Failure":
            found[str(record["node_id"])].append((running[key].pop(0), record["event_time"], kind["Class"]))
    healthy = {f"healthy {i}": [] for i in range(SERVERS - len(found))}
    return {node: sorted(rows) for node, rows in found.items()} | healthy


def spells(faults: dict, *, repairs: bool) -> pl.DataFrame:
    """Stretches between hardware faults; `repairs` are left out where a server is not observed during one."""
    rows = []
    for node, each in faults.items():
        begins = [0.0, *(min(end, LAST) if repairs else start for start, end, _ in each)]
        rows += [(node, begin, start, True, kind) for begin, (start, _, kind) in zip(begins, each, strict=False)]
        rows.append((node, begins[-1], LAST, False, None))
    return pl.DataFrame([row for row in rows if row[2] > row[1]], schema=SCHEMA, orient="row")


def test_gaps_and_first_failures_are_not_the_same_shape(faults, values):
    frame = spells(faults, repairs=True)
    for failures, name in (("gaps", "hbd_gap_weibull"), ("first", "hbd_first_weibull")):
        scale, shape = weibull(frame, failures=failures).rows(named=True)
        assert scale["estimate"] == pytest.approx(values[name]["lambda"], rel=1e-4)
        assert shape["estimate"] == pytest.approx(values[name]["rho"], rel=1e-4)
        assert (shape["events"], shape["log_likelihood"]) == (values[name]["events"], pytest.approx(values[name]["loglik"]))
    assert weibull(frame)["reason"].to_list() == ["several_failures_per_unit"]
    gaps = weibull(frame, failures="gaps")
    assert gaps["phase"][1] == "undetermined"
    assert gaps["low"][1] == pytest.approx(values["hbd_gap_weibull"]["rho_ci_log"][0], rel=1e-4)
    assert gaps["aic_exponential"][0] == pytest.approx(2 - 2 * values["hbd_gap_exp"]["loglik"], rel=1e-6)
    cell = pl.DataFrame({"failures": [297], "exposure_h": [gaps["exposure_h"][0]]})
    assert mtbf(cell)["estimate"][0] == pytest.approx(values["hbd_gap_exp"]["mtbf"], rel=1e-4)


def test_failures_per_server_and_their_spread(faults, values):
    found, expected = mcf(spells(faults, repairs=True)), values["hbd_mcf"]
    for at, mean, error in zip(expected["t"], expected["H"], expected["se"], strict=True):
        row = found.filter(pl.col("time_h") <= at).row(-1, named=True)
        assert (row["estimate"], row["standard_error"]) == (pytest.approx(mean, rel=1e-4), pytest.approx(error, rel=1e-4))


def test_the_pooled_trend_hides_those_of_the_classes(faults, values):
    frame, expected = spells(faults, repairs=False), values["hbd_crow_amsaa"]
    laplace, shape, end = trend(frame).rows(named=True)
    assert laplace["estimate"] == pytest.approx(values["hbd_laplace"]["U"], rel=1e-4)
    assert laplace["p_value"] == pytest.approx(values["hbd_laplace"]["p"], rel=1e-4)
    assert shape["estimate"] == pytest.approx(expected["beta_mle"], rel=1e-4)
    assert [shape["low"], shape["high"]] == pytest.approx(expected["beta_ci"], rel=1e-4)
    assert shape["bias_corrected"] == pytest.approx(expected["beta_unbiased"], rel=1e-4)
    assert shape["p_value"] == pytest.approx(expected["p_two"], rel=1e-4)
    assert shape["power_scale"] * SERVERS ** shape["estimate"] == pytest.approx(expected["lambda"], rel=1e-4)
    assert end["estimate"] / SERVERS == pytest.approx(expected["mtbf_inst_end"], rel=1e-4)
    assert trend(frame, truncation="failure")["estimate"][1] == pytest.approx(1.1593, abs=5e-5)
    classes = trend(frame, per_cause=True).filter(pl.col("quantity") == "laplace_u")
    u = dict(zip(classes["cause"], classes["estimate"], strict=True))
    assert [round(u[name], 1) for name in ("GPU", "Parameter Plane Cable", "Power Supply")] == [4.1, -3.6, -2.9]


def test_shares_by_cause_are_not_one_minus_survival(faults, values):
    expected = values["hbd_aalen_johansen_first"]
    rows = [(node, 0.0, each[0][0] if each else LAST, bool(each), each[0][2] if each else None) for node, each in faults.items()]
    causes = pl.when(pl.col("cause") == "GPU").then("cause").when("event").then(pl.lit("other")).alias("cause")
    found = competing_risks(pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(causes))
    for i, at in enumerate(expected["times"]):
        gpu, other = (
            found.filter((pl.col("time_h") <= at) & (pl.col("cause") == cause)).row(-1, named=True) for cause in ("GPU", "other")
        )
        assert gpu["estimate"] == pytest.approx(expected["cif_gpu"][i], rel=1e-6)
        assert gpu["standard_error"] == pytest.approx(expected["se_gpu"][i], rel=1e-6)
        assert other["estimate"] == pytest.approx(expected["cif_other"][i], rel=1e-6)
        assert not math.isclose(gpu["estimate"], expected["one_minus_km_gpu_wrong"][i], rel_tol=1e-3)
