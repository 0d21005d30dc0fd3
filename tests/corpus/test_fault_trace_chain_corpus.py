"""InfiniteHBD's trace through the whole chain: its published figures come out of `nightly`.

The servers that never failed are not in the trace: the test supplies an inventory of 400 nodes. The window starts at the
trace's day 0 and ends with its last event. Exposure here is service, downtime included; SOURCES.md states it less the
union of downtime, which is subtracted below.
"""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from bathtub.config import load
from bathtub.nightly import Window
from tests.inbox import run

EPOCH = datetime(2024, 3, 30, tzinfo=UTC)
N_SERVERS = 400
DOWNTIME_DAYS = 3231.3222
TOML = """
cluster = {name = "hbd", zone = "UTC"}

[[source]]
path = "trace/fault_trace.json"
epoch = 2024-03-30T00:00:00Z
collected_at = 2025-04-01T00:00:00Z
"""


@pytest.fixture(scope="module")
def chain(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("hbd")
    trace = corpus / "scheduler" / "stepfun-InfiniteHBD-Trace" / "fault_trace.json"
    (base / "inbox" / "trace").mkdir(parents=True)
    shutil.copy(trace, base / "inbox" / "trace")
    named = sorted(nodes(trace))
    filler = [f"never-failed-{number}" for number in range(N_SERVERS - len(named))]
    rows = "".join(f"{node},node\n" for node in [*named, *filler])
    (base / "inbox" / "inventory.csv").write_text("node,device_class\n" + rows)
    (base / "bathtub.toml").write_text(TOML)
    end = EPOCH + timedelta(days=348.9798)
    assert run(base, load(base / "bathtub.toml"), Window(EPOCH, end + timedelta(seconds=9))).exit_code == 3  # no logs: coverage
    return base


def nodes(trace: Path) -> set[str]:
    found = json.loads(trace.read_text())
    events = found if isinstance(found, list) else next(value for value in found.values() if isinstance(value, list))
    key = next(name for name in events[0] if "node" in name.lower() or "server" in name.lower() or "host" in name.lower())
    return {event[key] for event in events}


def failures(base: Path) -> pl.DataFrame:
    return pl.read_csv(base / "out" / "incidents.csv", infer_schema=False).filter(pl.col("is_failure") == "true")


def test_584_faults_are_584_failures_on_231_servers(chain: Path) -> None:
    found = failures(chain)
    assert found.height == 584
    assert found["device_node"].n_unique() == 231


def test_each_class_comes_out_as_its_component(chain: Path) -> None:
    counts = dict(failures(chain).group_by("component").len().iter_rows())
    expected = {"gpu": 158, "switch_or_cable": 40, "cooling": 33, "nic": 30, "cpu": 3}
    assert {name: counts[name] for name in expected} == expected
    assert counts["power"] == 26 + 1  # power supply, and the battery of one board


@pytest.mark.parametrize(
    "component, server_days",
    [("gpu", 863.0), ("switch_or_cable", 3409.0), ("cooling", 4132.0)],
)
def test_server_days_per_fault_are_the_published_ones(chain: Path, component: str, server_days: float) -> None:
    table = pl.read_csv(chain / "out" / "reliability.csv", infer_schema_length=None)
    # All classes stand over the hours of the servers here, since the trace knows no other device.
    hours = table.filter((pl.col("component") == "os") & (pl.col("exposure_kind") == "in_service"))["device_hours"].item()
    assert hours / 24 == pytest.approx(N_SERVERS * 348.9798, rel=1e-4)
    n_failures = table.filter((pl.col("component") == component) & (pl.col("exposure_kind") == "in_service"))["failures"].item()
    assert (hours / 24 - DOWNTIME_DAYS) / n_failures == pytest.approx(server_days, rel=6e-4)


def test_the_all_cause_mean_time_between_faults_is_the_published_one(chain: Path) -> None:
    table = pl.read_csv(chain / "out" / "reliability.csv", infer_schema_length=None).filter(
        pl.col("exposure_kind") == "in_service"
    )
    hours = table.filter(pl.col("component") == "os")["device_hours"].item()
    assert (hours / 24 - DOWNTIME_DAYS) / table["failures"].sum() == pytest.approx(233.49, abs=0.05)
