"""What a simulated cluster is asked to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

CLUSTER = "sim"
ZONE_NAME = "Europe/Berlin"
ZONE = ZoneInfo(ZONE_NAME)
STARTED_AT = datetime(2026, 3, 2, tzinfo=ZONE).astimezone(UTC)
DAY_S, HOUR_S = 86_400.0, 3600.0
GPUS_PER_NODE = 8
SOURCES = ("kernel", "recorder", "scheduler")
"""The sources that can be left out."""

SIZES = {"nodes": (8, 4096), "days": (3, 366)}
# What a generator is for: its place is part of the seed, so new ones go to the end.
PURPOSES = (
    "nodes",
    "gpus",
    "hazards",
    "scope",
    "jobs",
    "ending",
    "lines",
    "ordinary",
    "dumps",
    "output",
    "telemetry",
    "files",
    "shared",
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The size of a cluster, how often it fails, and what of it is written.

    `rate_factor` multiplies the published rates; `floor` is added to the published count of every component first, so that
    rare ones occur in small clusters too. `lines_per_day` healthy log lines are written per node; each GPU is sampled every
    `sample_h` hours. `missing` names sources that are not written. Raises ValueError for what cannot be simulated.
    """

    seed: int = 7
    n_nodes: int = 64
    n_days: int = 30
    rate_factor: float = 1.0
    floor: float = 0.0
    has_noise: bool = True
    has_corruption: bool = False
    missing: frozenset[str] = frozenset()
    lines_per_day: float = 48.0
    sample_h: int = 6

    def __post_init__(self) -> None:
        for name, value in (("nodes", self.n_nodes), ("days", self.n_days)):
            low, high = SIZES[name]
            if not low <= value <= high:
                raise ValueError(f"{value} {name}: a simulated cluster has {low} to {high}")
        if not 0 < self.rate_factor <= 1000:  # noqa: PLR2004 - beyond it every node would be down all the time
            raise ValueError(f"rate factor {self.rate_factor}: it lies above 0 and is at most 1000")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed}: it is not negative")
        if self.missing - set(SOURCES):
            raise ValueError(f"missing {', '.join(sorted(self.missing))}: it is one of {', '.join(SOURCES)}")

    @property
    def end_s(self) -> float:
        """The end of the simulation, seconds after its start."""
        return self.n_days * DAY_S

    @property
    def risk_end_s(self) -> float:
        """When incidents stop: what they do has then been written by the end."""
        return self.end_s - 3 * HOUR_S

    def rng(self, purpose: str, *parts: int) -> np.random.Generator:
        """A generator of its own for each purpose and part: a change in one leaves the others as they are."""
        return np.random.default_rng([self.seed, PURPOSES.index(purpose), *parts])


PRESETS: Mapping[str, Mapping[str, float]] = {
    "small": {"n_nodes": 16, "n_days": 14, "rate_factor": 20.0, "floor": 4.0},
    "mixed": {"n_nodes": 64, "n_days": 30, "rate_factor": 8.0, "floor": 6.0},
    "llama3": {"n_nodes": 2048, "n_days": 54, "lines_per_day": 24.0, "sample_h": 24},
}
"""Sizes by name. llama3 has the published size and rates."""


def at(seconds: float) -> datetime:
    """The instant so many seconds after the start, UTC, in whole microseconds."""
    return STARTED_AT + timedelta(microseconds=round(seconds * 1e6))


def local(seconds: float) -> datetime:
    """The same instant on the cluster's wall."""
    return at(seconds).astimezone(ZONE)


def midnight(day: int) -> float:
    """The start of a civil day of the cluster, the first being 0: seconds after the start. Days of 23 and 25 hours count."""
    there = STARTED_AT.astimezone(ZONE) + timedelta(days=day)
    return (there.astimezone(UTC) - STARTED_AT).total_seconds()
