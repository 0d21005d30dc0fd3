"""Fleets that fail, simulated: what the closed forms say, where their assumptions can be broken.

A fleet is new at the start of each run and as good as new after each repair; runs follow one another until enough
failures are seen. Equal seeds give equal numbers. Errors are of batch means: one hundred stretches of the history.

| broken assumption | what moves, and where to, against the closed form at the same rate |
|---|---|
| `shape` below 1 (parts die young), fleet new at the start | MTBF and goodput lower, more instances away |
| `shape` above 1 (parts wear out), run shorter than a life | MTBF and goodput higher |
| `failures_at_once` = m (a switch takes m instances with it) | MTBF m times, goodput higher; too few spares more often |
| `repair_crews` (instances wait for repair) | too few spares more often; the job is not slower while spares last |
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bathtub.planning.formulas import Reading

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

N_BATCHES = 100
AGREES_WITHIN = 4
"""Monte Carlo errors: 1 in 10,000 right results lies further away, since errors come of a hundred batches."""

FEWEST_FAILURES = 500
MOST_DRAWS = 4_000_000
LOOKS = 200
"""Looks at the fleet per batch."""

SHAPES = (0.3, 10.0)


@dataclass(frozen=True, kw_only=True)
class World:
    """How the simulated fleet differs from what the closed forms assume; as it stands, in nothing.

    `shape`: Weibull shape of an instance's time to failure, mean kept. `failures_at_once`: instances that one cause takes
    together. `repair_crews`: instances under repair at one time, no bound where null. `run_h`: hours of a run.
    """

    seed: int = 7
    n_failures: int = 20_000
    shape: float = 1.0
    failures_at_once: int = 1
    repair_crews: int | None = None
    run_h: float = 720.0

    def __post_init__(self) -> None:
        """Raises ValueError for what cannot be simulated."""
        wrong = {
            f"a Weibull shape is {SHAPES[0]:g} to {SHAPES[1]:g}": not SHAPES[0] <= self.shape <= SHAPES[1],
            "at least 1 instance fails at once": self.failures_at_once < 1,
            "there is at least 1 repair crew": self.repair_crews is not None and self.repair_crews < 1,
            "a run takes more than 0 and at most 1e6 hours": not 0 < self.run_h <= 1e6,  # noqa: PLR2004 - the words beside it
            "1,000 to 1,000,000 failures are simulated": not 1_000 <= self.n_failures <= 1_000_000,  # noqa: PLR2004
            "a seed is a whole number from 0": self.seed < 0,
        }
        for words, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(words)


@dataclass(frozen=True)
class History:
    """Failures in order of time: `at_h` hours since the start, `taken` instances each; `hours` is the whole length."""

    at_h: Floats
    taken: Counts
    hours: float

    @property
    def gaps_h(self) -> Floats:
        """Hours before each failure since the one before it."""
        return np.diff(self.at_h, prepend=0.0)


@dataclass(frozen=True)
class Simulated:
    """A mean over a history, and its Monte Carlo standard error."""

    value: float
    error: float

    def inverse(self, factor: float = 1.0) -> "Simulated | None":
        """factor/value, its error to first order; null at 0."""
        return Simulated(factor / self.value, abs(factor * self.error / self.value**2)) if self.value else None

    def less(self, other: "Simulated") -> "Simulated":
        """The difference, its error that of independent ones."""
        return Simulated(self.value - other.value, math.hypot(self.error, other.error))

    def agrees_with(self, closed: float) -> bool:
        """Whether a closed form lies within AGREES_WITHIN errors."""
        return abs(closed - self.value) <= AGREES_WITHIN * self.error + 1e-9 * abs(closed)


def history(rate: float, n_instances: int, world: World, away_h: float = 0.0) -> History | None:
    """Failures of a fleet, about `n_failures` of them; null where so few would come that nothing can be said.

    `rate`: failures per hour that an instance runs, in the long run, above 0. `away_h`: hours after a failure in which an
    instance does not run.
    """
    sizes = _groups(n_instances, world.failures_at_once)
    mean_gap_h = 1 / (rate * len(sizes))
    run_h = min(world.run_h, world.n_failures * mean_gap_h)
    n_runs = max(1, min(math.ceil(world.n_failures * mean_gap_h / run_h), MOST_DRAWS // len(sizes)))
    lives = _Lives(1 / rate, world.shape, away_h)
    at_h, which = _renewals(np.random.default_rng(world.seed), n_runs * len(sizes), lives, run_h)
    if len(at_h) < FEWEST_FAILURES:
        return None
    at_h = at_h + (which // len(sizes)) * run_h
    order = np.argsort(at_h, kind="stable")
    return History(at_h[order], sizes[which[order] % len(sizes)], n_runs * run_h)


def _groups(n_instances: int, at_once: int) -> Counts:
    """Instances that fail together, one number per group."""
    whole, rest = divmod(n_instances, at_once)
    return np.array([at_once] * whole + [rest] * (rest > 0), dtype=np.int64)


@dataclass(frozen=True)
class _Lives:
    """Weibull lives of this mean, each followed by hours away."""

    mean_h: float
    shape: float
    away_h: float

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Lives, h. Shapes: n."""
        return self.mean_h / math.gamma(1 + 1 / self.shape) * rng.weibull(self.shape, n)


def _renewals(rng: np.random.Generator, n_units: int, lives: _Lives, until_h: float) -> tuple[Floats, Counts]:
    """Times of failure of each unit before `until_h`, and the unit of each; all units draw their next life together."""
    units, at_h = np.arange(n_units), lives.draw(rng, n_units)
    times, which = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    while len(units):
        is_within = at_h < until_h
        units, at_h = units[is_within], at_h[is_within]
        times.append(at_h)
        which.append(units)
        at_h = at_h + lives.away_h + lives.draw(rng, len(units))
    return np.concatenate(times), np.concatenate(which)


def ratio(above: Floats, below: Floats) -> Simulated:
    """Sum over sum, with its error out of the batches. Shapes: n, n."""
    n = len(above) // N_BATCHES * N_BATCHES
    tops, bottoms = (values[:n].reshape(N_BATCHES, -1).sum(axis=1) for values in (above, below))
    value = float(tops.sum() / bottoms.sum())
    spread = math.sqrt(float(((tops - value * bottoms) ** 2).sum()) / (N_BATCHES * (N_BATCHES - 1)))
    return Simulated(value, spread / float(bottoms.mean()))


def mean_gap(seen: History) -> Simulated:
    """Mean time between failures of the job, h."""
    return ratio(seen.gaps_h, np.ones(len(seen.at_h)))


def kept(gaps_h: Floats, interval_h: float, cost_h: float) -> Floats:
    """Hours of work that each stretch of processing leaves behind: whole intervals with their checkpoint. Shapes: n to n."""
    done: Floats = interval_h * np.floor(gaps_h / (interval_h + cost_h))
    return done


def goodput(seen: History, recovery_h: float, checkpoint: tuple[float, float] | None, reading: Reading) -> Simulated:
    """Share of wall-clock time that is work done once.

    `checkpoint`: hours of work between two, hours that one takes; null where no work is lost but what `recovery_h` holds.
    Failures of the reading `productive` come in running time alone; those of `wall_clock` at any time, and a recovery
    that is struck goes on, with a whole further one behind it.
    """
    gaps_h = seen.gaps_h
    if reading == "productive":
        running_h, wall_h = gaps_h, gaps_h + recovery_h
    else:
        running_h, wall_h = np.maximum(gaps_h - _backlog(gaps_h, recovery_h), 0), gaps_h
    return ratio(running_h if checkpoint is None else kept(running_h, *checkpoint), wall_h)


def _backlog(gaps_h: Floats, recovery_h: float) -> Floats:
    """Hours of recovery still to come at the start of each gap, 0 at the first (Lindley's recursion). Shapes: n to n."""
    steps = recovery_h - gaps_h
    steps[0] = 0.0  # no failure stands before the first gap
    sums = np.cumsum(steps)
    left_h = sums - np.minimum.accumulate(sums)
    return np.concatenate(([0.0], left_h[:-1] + recovery_h))


def away(seen: History, lead_h: float, crews: int | None) -> Counts | None:
    """Instances away at looks evenly over the history; each is away for `lead_h` of repair. Shape: N_BATCHES x LOOKS.

    With `crews` each repairs one instance at a time, in order of failure, and the others wait. Null where the history is
    shorter than ten lead times, or more instances fail than can be followed.
    """
    if seen.hours < 10 * lead_h or seen.taken.sum() > MOST_DRAWS:
        return None
    failed_h = np.repeat(seen.at_h, seen.taken)
    is_unbounded = crews is None or crews >= len(failed_h)
    back_h = failed_h + lead_h if is_unbounded else np.sort(_repaired(failed_h, lead_h, crews or 1))
    looks_h = np.linspace(lead_h, seen.hours, N_BATCHES * LOOKS)
    return np.searchsorted(failed_h, looks_h, side="right") - np.searchsorted(back_h, looks_h, side="right")


def enough(n_away: Counts, spares: int) -> Simulated:
    """Share of looks at which no more instances are away than there are spares."""
    return ratio((n_away <= spares).astype(np.float64), np.ones(len(n_away)))


def needed(n_away: Counts, availability: float) -> int:
    """The fewest spares that are enough at this share of looks."""
    return int(np.quantile(n_away, availability, method="inverted_cdf"))


def _repaired(failed_h: Floats, lead_h: float, crews: int) -> Floats:
    """When each instance is back. Equal repairs in turn: instance i waits for instance i - crews. Shapes: n to n."""
    n = len(failed_h)
    padded = np.concatenate((failed_h, np.full(-n % crews, np.inf))).reshape(-1, crews)
    before_h = np.arange(len(padded))[:, None] * lead_h
    back_h: Floats = np.maximum.accumulate(padded - before_h, axis=0) + before_h + lead_h
    return back_h.ravel()[:n]
