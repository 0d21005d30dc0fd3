"""Damaged inputs of each format: no exception but Quarantine, sums hold, every row fits its table."""

from pathlib import Path

import pytest

from bathtub.ingest import formats
from tests.damage import outcomes

PER_FORMAT = 100
"""Inputs of each format here; `bench/bench_fuzz.py` reads as many as it is told."""


@pytest.mark.parametrize("name", formats())
def test_damaged_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    assert outcomes(name, PER_FORMAT, tmp_path)["read"] > 0
