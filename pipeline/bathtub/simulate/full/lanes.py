"""The jobs' lanes: groups of nodes on which one job runs after another, and the spare nodes."""

from dataclasses import dataclass, field

import numpy as np

from bathtub.simulate.full.events import Attempt, Event
from bathtub.simulate.full.settings import DAY_S, HOUR_S

USERS = {"amira": 5001, "bo": 5002, "chen": 5003, "dilek": 5004, "emeka": 5005, "farida": 5006, "goran": 5007}
NAMES = ("sft-mix3", "rlhf-ppo", "eval | grep loss", "vit-h14", "sweep|lr=3e-4", "tokenize", 'ablation "no-rope"', "moe-8x7b")
SMALL = (4, 2, 1, 1, 2, 1, 8, 1)


@dataclass(eq=False)
class Lane:
    """A group of nodes. `pending` is the event that ends the running attempt before its time."""

    number: int
    nodes: list[int]
    is_giant: bool
    attempt: Attempt | None = None
    left_s: float = 0.0
    job_id: int = 0
    token: int = 0
    pending: Event | None = None
    refused: Event | None = None
    waiting: list[Event] = field(default_factory=list)


def lanes(n_nodes: int) -> tuple[list[Lane], list[int]]:
    """A lane over half of the nodes, small ones over the others, and a spare node for every 24."""
    n_spare = max(1, n_nodes // 24)
    sizes = [n_nodes // 2]
    left = n_nodes - n_spare - sizes[0]
    while left:
        size = min(SMALL[len(sizes) % len(SMALL)] * max(1, n_nodes // 256), left)
        sizes.append(size)
        left -= size
    found, first = [], 0
    for number, size in enumerate(sizes):
        found.append(Lane(number, list(range(first, first + size)), is_giant=number == 0))
        first += size
    return found, list(range(first, n_nodes))


def duration_s(lane: Lane, chance: np.random.Generator) -> float:
    """How long the next program of a lane takes: weeks of pretraining, or hours."""
    return float(chance.uniform(8, 20)) * DAY_S if lane.is_giant else float(np.clip(chance.lognormal(1.9, 0.8), 0.3, 60)) * HOUR_S


def named(lane: Lane, chance: np.random.Generator) -> tuple[str, str]:
    """User and name of the next program."""
    user = list(USERS)[int(chance.integers(len(USERS)))]
    return user, "pretrain-405b" if lane.is_giant else NAMES[int(chance.integers(len(NAMES)))]
