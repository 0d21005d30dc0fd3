"""The models of cells over the fault trace of 400 servers give the reference values, which were made with other software."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bathtub.survival._glm import Cells, negative_binomial, poisson
from bathtub.survival._spread import dispersion
from bathtub.survival.ranking import ranking
from bathtub.survival.rate_ratio import rate_ratio


@pytest.fixture(scope="module")
def values(corpus: Path) -> dict:
    file = corpus.parent / "reference" / "values" / "infinitehbd.json"
    if not file.exists():
        pytest.skip("the reference values are not on this machine")
    return {value["id"]: value["value"] for value in json.loads(file.read_text())["values"]}


@pytest.fixture(scope="module")
def counts(corpus: Path) -> np.ndarray:
    """Hardware faults of each of 400 servers, of which those that are not named had none."""
    trace = json.loads((corpus / "scheduler/stepfun-InfiniteHBD-Trace/fault_trace.json").read_text())
    named = Counter(
        record["node_id"]
        for record in trace
        if record["event_type"] == "fault_start" and record["fault_type"]["Level"] == "Hardware Failure"
    )
    return np.array([*named.values(), *[0] * (400 - len(named))], dtype=float)


def test_servers_differ_by_more_than_chance(values, counts):
    phi, p, n_free = dispersion(counts, np.ones(400), np.zeros(400, int))
    expected = values["hbd_dispersion_chisq"]
    assert math.isclose(phi, values["hbd_dispersion_index"], rel_tol=1e-4)
    assert (n_free, pytest.approx(p, rel=1e-4)) == (expected["df"], expected["p"])
    cells = Cells(np.ones((400, 1)), counts, np.ones(400))
    plain = poisson(cells)
    assert math.isclose(plain.log_likelihood, values["hbd_hw_poisson"]["loglik"], rel_tol=1e-4)
    assert math.isclose(plain.errors[0], values["hbd_hw_poisson"]["se_logmu"], rel_tol=1e-4)
    wider, expected = negative_binomial(cells, plain), values["hbd_hw_negbin"]
    found = wider.theta, math.exp(wider.coefficients[0]), wider.log_likelihood, wider.errors[0]
    for number, name in zip(found, ("theta", "mu", "loglik", "se_logmu"), strict=True):
        assert math.isclose(number, expected[name], rel_tol=1e-3)


def test_no_server_is_a_lemon(values, counts):
    found = ranking(pl.DataFrame({"server": range(400), "failures": counts, "exposure_h": [348.9798] * 400}))
    expected = values["hbd_ranking"]
    assert found["raw_rate_per_h"].max() * 348.9798 == pytest.approx(expected["max"])
    assert (found["poisson_p_value"] <= 0.05).sum() == expected["raw"]
    assert (found["poisson_p_value"] <= 0.05 / 400).sum() == expected["bonferroni"]
    assert (found["poisson_q_value"] <= 0.05).sum() == expected["bh"]
    assert math.isclose(found["theta"][0], expected["nb_theta"], rel_tol=1e-3)
    assert (found["p_value"] <= 0.05).sum() == expected["nb_raw"]
    assert found["is_lemon"].sum() == expected["nb_bh"] == 0
    against_all = rate_ratio(found.select("server", pl.col("events").alias("failures"), "exposure_h"))
    assert not (against_all["q_value"] <= 0.05).any()
