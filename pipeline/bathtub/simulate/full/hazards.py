"""How often each part fails: published counts, spread over nodes, ages, temperatures and hours as planted.

The counts are those of the Llama 3 table of interruptions (arXiv:2407.21783, Table 5: 419 in 54 days on 16,384 GPUs). Its row
Faulty GPU is split into gpu and nvlink, Software Bug into software and os, Dependency into storage and scheduler, since
the table does not tell them apart; silent data corruption stands with gpu, the chassis with pcie.
"""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bathtub.simulate.full.settings import DAY_S, Settings
from bathtub.simulate.full.topology import FRAILTY_VARIANCE, LOTS, Fleet, Node, inlet_c, weights

PUBLISHED_NODE_HOURS = 2048 * 54 * 24
TEMPERATURE_0_C = 24.0
HOURS = np.arange(24)


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """One component's hazard per node.

    `weibull` is the shape over the age (1 constant, below 1 infant mortality, above 1 wear-out), equal to the base rate
    `scale_days` after the start of service. The age is the node's: a part that is replaced does not start it again.
    `lot_ratio` is the rate of the second lot to that of the first at one age.
    """

    component: str
    published: float
    weibull: float = 1.0
    scale_days: float = 200.0
    lot_ratio: float = 1.0
    per_c: float = 0.0
    amplitude: float = 0.0
    peak_hour: float = 15.0
    is_frail: bool = True

    @property
    def shape(self) -> str:
        """Its name."""
        return "constant" if self.weibull == 1 else "infant" if self.weibull < 1 else "wear_out"

    def base(self, settings: Settings) -> float:
        """The rate per node-hour before all effects."""
        return (self.published + settings.floor) * settings.rate_factor / PUBLISHED_NODE_HOURS

    def rate(self, settings: Settings, node: Node, day: int) -> float:
        """The mean rate per node-hour on one node and day."""
        age = max(node.age_days + day + 0.5, 1.0)
        aged = math.pow(age / self.scale_days, self.weibull - 1)
        heat = math.exp(self.per_c * (inlet_c(node, day) - TEMPERATURE_0_C))
        return self.base(settings) * aged * heat * (node.frailty if self.is_frail else 1.0) * math.pow(self.lot_ratio, node.lot)


HAZARDS = (
    Hazard(component="gpu", published=116, weibull=0.8, per_c=0.04),
    Hazard(component="nvlink", published=38, lot_ratio=1.5),
    Hazard(component="hbm", published=72, lot_ratio=2.0, per_c=0.05),
    Hazard(component="gpu_sram", published=19),
    Hazard(component="gsp", published=17),
    Hazard(component="software", published=44, amplitude=0.5, is_frail=False),
    Hazard(component="os", published=10, is_frail=False),
    Hazard(component="switch_or_cable", published=35, per_c=0.03),
    Hazard(component="maintenance", published=32, amplitude=0.8, peak_hour=11.0, is_frail=False),
    Hazard(component="nic", published=7),
    Hazard(component="unknown", published=7, is_frail=False),
    Hazard(component="cooling", published=6, per_c=0.1),
    Hazard(component="disk", published=3, weibull=1.8),
    Hazard(component="power", published=3, weibull=1.5),
    Hazard(component="pcie", published=4),
    Hazard(component="cpu", published=2),
    Hazard(component="host_memory", published=2, weibull=0.6),
    Hazard(component="storage", published=1, is_frail=False),
    Hazard(component="scheduler", published=1, is_frail=False),
)


def strikes(settings: Settings, fleet: Fleet) -> Iterator[tuple[float, int, str, float]]:
    """Candidates in order of node and day: seconds after the start, node, component, a number in [0, 1) that chooses the kind.

    Each node-day has a generator of its own, so no node and no day depends on another or on their number.
    """
    shares = [weights(HOURS, hazard.amplitude, hazard.peak_hour) for hazard in HAZARDS]
    for node in fleet.nodes:
        for day in range(settings.n_days):
            chance = settings.rng("hazards", node.index, day)
            counts = chance.poisson([24 * hazard.rate(settings, node, day) for hazard in HAZARDS])
            for number in np.flatnonzero(counts):
                for _ in range(counts[number]):
                    hour = chance.choice(24, p=shares[number])
                    at_s = day * DAY_S + (hour + chance.random()) * 3600
                    yield float(at_s), node.index, HAZARDS[number].component, float(chance.random())


COLUMNS = (
    "component", "unit", "shape", "weibull_shape", "scale_days", "base_rate_per_node_hour", "published_count", "floor",
    "rate_factor", "lot_ratio", "lots", "per_degree_c", "temperature_0_c", "amplitude", "peak_hour", "frailty_variance",
)  # fmt: skip


def write(path: Path, settings: Settings) -> None:
    """truth/hazards.csv: one row per component."""
    lots = ";".join(f"{lot}:{vendor}:{days}d" for vendor, lot, days in LOTS)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for each in HAZARDS:
            head = (each.component, "node", each.shape, each.weibull, each.scale_days, f"{each.base(settings):.6g}")
            counts = (each.published, settings.floor, settings.rate_factor, each.lot_ratio, lots)
            effects = (each.per_c, TEMPERATURE_0_C, each.amplitude, each.peak_hour)
            rows.writerow((*head, *counts, *effects, FRAILTY_VARIANCE if each.is_frail else 0))
