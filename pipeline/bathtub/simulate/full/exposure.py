"""The hours at risk, and how many incidents the hazards lead one to expect in them."""

import csv
from pathlib import Path

import numpy as np

from bathtub.simulate.full.events import History
from bathtub.simulate.full.hazards import HAZARDS, Hazard
from bathtub.simulate.full.kinds import BY_COMPONENT, KINDS
from bathtub.simulate.full.settings import DAY_S, Settings
from bathtub.simulate.full.topology import Fleet

COLUMNS = ("component", "unit", "unit_hours_in_service", "unit_hours_allocated", "n_expected", "n_planted")
_NAMES = frozenset(kind.name for kind in KINDS)


def write(path: Path, settings: Settings, fleet: Fleet, history: History) -> None:
    """truth/exposure.csv: node-hours per component. n_expected is the integral of the planted hazard over them."""
    served, held = hours(settings, history)
    found = [event.kind.component for event in history.events if event.kind.name in _NAMES]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for hazard in HAZARDS:
            expected = _expected(settings, fleet, hazard, served, held)
            sums = (f"{served.sum():.1f}", f"{held.sum():.1f}", f"{expected:.3f}")
            table.writerow((hazard.component, "node", *sums, found.count(hazard.component)))


def _expected(settings: Settings, fleet: Fleet, hazard: Hazard, served: np.ndarray, held: np.ndarray) -> float:
    """Kinds that need a job are at risk while one runs, the others while the node is in service."""
    kinds = BY_COMPONENT[hazard.component]
    share = sum(kind.weight for kind in kinds if kind.needs_job) / sum(kind.weight for kind in kinds)
    at_risk = share * held + (1 - share) * served
    days = range(settings.n_days)
    return float(sum(hazard.rate(settings, node, day) * at_risk[node.index, day] for node in fleet.nodes for day in days))


def hours(settings: Settings, history: History) -> tuple[np.ndarray, np.ndarray]:
    """Hours in service and hours with a job up to the end of risk, per node and day of 24 hours after the start."""
    served, held = (np.zeros((settings.n_nodes, settings.n_days)) for _ in range(2))
    _add(served, tuple(range(settings.n_nodes)), 0.0, settings.risk_end_s, 1.0)
    for outage in history.outages:
        _add(served, (outage.node,), outage.since_s, min(outage.until_s, settings.risk_end_s), -1.0)
    for attempt in history.attempts:
        _add(held, attempt.nodes, attempt.started_s, min(attempt.ended_s, settings.risk_end_s), 1.0)
    return served, held


def _add(cells: np.ndarray, nodes: tuple[int, ...], since_s: float, until_s: float, sign: float) -> None:
    rows = np.fromiter(nodes, int)
    for day in range(max(int(since_s // DAY_S), 0), min(int(until_s // DAY_S) + 1, cells.shape[1])):
        part_s = min(until_s, (day + 1) * DAY_S) - max(since_s, day * DAY_S)
        cells[rows, day] += sign * max(part_s, 0.0) / 3600
