"""Shared by all drivers: an odd time zone, a fixed Hypothesis profile, and where the corpus is."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["TZ"] = "Pacific/Chatham"  # no answer may depend on the machine's zone
time.tzset()

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60, suppress_health_check=list(HealthCheck))
settings.load_profile("ci")

CORPUS = Path(os.environ.get("BATHTUB_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real public files; tests over it are skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real files is not on this machine: set BATHTUB_CORPUS to its folder")
    return CORPUS
