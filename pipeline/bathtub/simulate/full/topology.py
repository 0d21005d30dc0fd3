"""Where the nodes stand and what each is like: rack, leaf switch, cooling loop, lot, age, frailty, heat, clock, logs."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bathtub.simulate.full.settings import DAY_S, Settings

PER_RACK, PER_LEAF, PER_LOOP = 8, 16, 32
STYLES = ("messages", "journal", "iso", "rack")
"""How a node's log is kept: its own syslog, its journal as JSON, its journal as text, or the log host of its rack."""

FRAILTY_VARIANCE = 0.5
LOTS = (("Acme Systems", "L2504", 280), ("Borealis Compute", "L2511", 95))
"""Vendor, lot, days in service when the simulation starts."""

SLOTS = ("0000:18:00", "0000:2a:00", "0000:3a:00", "0000:5d:00", "0000:9a:00", "0000:ab:00", "0000:ba:00", "0000:db:00")
NICS = ("0000:19:00", "0000:2b:00", "0000:3b:00", "0000:5e:00", "0000:9b:00", "0000:ac:00", "0000:bb:00", "0000:dc:00")
SWITCHES = ("0000:05:00", "0000:06:00", "0000:07:00", "0000:08:00")

DRIVERS = ("570.133.20", "580.65.06")
"""Versions of the GPU driver, by rack."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node. `frailty` multiplies its hazards, `warmer_c` is above the fleet, `skew_s` is how far its clock is ahead."""

    index: int
    name: str
    rack: int
    leaf: int
    loop: int
    lot: int
    style: str
    frailty: float
    warmer_c: float
    skew_s: float
    up_s: float

    @property
    def age_days(self) -> int:
        """Days in service at the start."""
        return LOTS[self.lot][2]


@dataclass(frozen=True)
class Fleet:
    """All nodes, and who shares what."""

    settings: Settings

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node, by its index. Each is drawn from a generator of its own."""
        width = max(3, len(str(self.settings.n_nodes)))
        return tuple(self._node(index, f"hgx-{index + 1:0{width}}") for index in range(self.settings.n_nodes))

    def _node(self, index: int, name: str) -> Node:
        chance = self.settings.rng("nodes", index)
        rack = index // PER_RACK
        return Node(
            index=index,
            name=name,
            rack=rack,
            leaf=index // PER_LEAF,
            loop=index // PER_LOOP,
            lot=rack % len(LOTS),
            style=STYLES[index % len(STYLES)],
            frailty=float(chance.gamma(1 / FRAILTY_VARIANCE, FRAILTY_VARIANCE)),
            warmer_c=float(chance.normal(0, 2)),
            skew_s=float(chance.normal(0, 0.4)),
            up_s=float(chance.uniform(1, 40)) * DAY_S,
        )

    def sharing(self, what: str, index: int) -> tuple[int, ...]:
        """The nodes on the same rack, leaf or loop as this one."""
        mine = getattr(self.nodes[index], what)
        return tuple(node.index for node in self.nodes if getattr(node, what) == mine)

    @cached_property
    def n_racks(self) -> int:
        """How many racks there are."""
        return self.nodes[-1].rack + 1


def inlet_c(node: Node, day: float) -> float:
    """The air or water that a node takes in: 24 °C, warmer towards summer, and as the node's place is."""
    return 24.0 + node.warmer_c + 4.0 * math.sin(2 * math.pi * (day - 30) / 365)


def gpu_c(node: Node, hour_of_day: float, day: float, load: float) -> float:
    """A GPU's temperature at a load from 0 to 1."""
    return inlet_c(node, day) + 6.0 + 34.0 * load + 1.5 * math.cos(2 * math.pi * (hour_of_day - 15) / 24)


def weights(hours: np.ndarray, amplitude: float, peak_hour: float) -> np.ndarray:
    """The share of each hour of a day in a day's hazard."""
    shape = np.asarray(1 + amplitude * np.cos(2 * np.pi * (hours + 0.5 - peak_hour) / 24))
    return np.asarray(shape / shape.sum())
