"""The tables of a plan: each closed form with its limits, a simulation of the same thing, and whether they agree."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from bathtub.planning import formulas, simulation
from bathtub.planning._plan import S_PER_H, Plan, Row, beside, row
from bathtub.planning.formulas import READINGS
from bathtub.planning.simulation import Counts, Floats, History

INTERVALS: Mapping[str, Callable[[float, float], float]] = {
    "exact": formulas.exact_h,
    "daly": formulas.daly_h,
    "young": formulas.young_h,
    "half of exact": lambda cost_h, mtbf: formulas.exact_h(cost_h, mtbf) / 2,
    "twice exact": lambda cost_h, mtbf: formulas.exact_h(cost_h, mtbf) * 2,
}
Enough = Callable[[int, int, float], float]
SPARES: Mapping[str, Enough] = {
    "off until needed (Poisson)": formulas.poisson_enough,
    "running too (binomial)": formulas.binomial_enough,
}
GRID = np.geomspace(0.25, 4, 129)
"""Multiples of the exact interval among which the simulated minimum is sought."""

WITHIN = 1.01
"""The exact interval's simulated time over the least simulated one, up to which they agree."""


def sizes(plan: Plan) -> Iterator[Row]:
    """MTBF of each size, h."""
    for n in sorted({*_numbers(plan.job.sizes), plan.n}):
        seen = plan.history(plan.rate.estimate, n)
        told = plan.rate.told(lambda rate, n=n: formulas.mtbf_h(rate, n), falls=True)  # type: ignore[misc]
        yield beside(row("sizes", n, "mtbf_h", told), None if seen is None else simulation.mean_gap(seen))


def _numbers(text: str | None) -> list[int]:
    """Whole numbers of a list with commas. Raises ValueError."""
    try:
        found = [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise ValueError(f"--sizes {text!r}: give whole numbers, 8,64,512") from None
    if any(not 1 <= n <= 1_000_000 for n in found) or len(found) > 100:  # noqa: PLR2004 - the words beside it
        raise ValueError("--sizes: up to 100 sizes of 1 to 1,000,000 instances")
    return found


def checkpoint(plan: Plan) -> Iterator[Row]:
    """Each rule's interval and the time that it takes; the interval of least simulated time, and how near the exact comes."""
    if plan.job.checkpoint_s is None:
        return
    cost_h, rate = plan.job.checkpoint_s / S_PER_H, plan.rate.estimate
    seen = plan.history(rate)
    for name, rule in INTERVALS.items():
        told = plan.rate.told(lambda rate, rule=rule: rule(cost_h, plan.mtbf_h(rate)) * S_PER_H, falls=True)  # type: ignore[misc]
        yield row("checkpoint", name, "interval_s", told)
        if rate is not None:
            yield _time(plan, name, (rule(cost_h, plan.mtbf_h(rate)), cost_h), seen)
    if rate is not None and seen is not None:
        yield from _least(seen, formulas.exact_h(cost_h, plan.mtbf_h(rate)), cost_h)


def _time(plan: Plan, name: str, checkpoint: tuple[float, float], seen: History | None) -> Row:
    """Time per hour of work at an interval that stays as it is, wherever within its limits the rate lies."""

    def time_ratio(rate: float) -> float | None:
        share = formulas.kept_ratio(*checkpoint, plan.mtbf_h(rate))
        return 1 / share if share else None

    simulated = None if seen is None else simulation.goodput(seen, 0.0, checkpoint, "productive").inverse()
    return beside(row("checkpoint", name, "time_ratio", plan.rate.told(time_ratio, falls=False)), simulated)


def least_simulated(gaps_h: Floats, exact_h: float, cost_h: float) -> tuple[float, float]:
    """The interval of least simulated time, h, and the exact interval's time over it; infinite where nothing gets done."""
    done = [float(simulation.kept(gaps_h, exact_h * factor, cost_h).sum()) for factor in GRID]
    best, at_exact = int(np.argmax(done)), float(simulation.kept(gaps_h, exact_h, cost_h).sum())
    return exact_h * float(GRID[best]), done[best] / at_exact if at_exact else float("inf")


def _least(seen: History, exact_h: float, cost_h: float) -> Iterator[Row]:
    interval_h, ratio = least_simulated(seen.gaps_h, exact_h, cost_h)
    least = row("checkpoint", "least simulated", "interval_s", {"estimate": exact_h * S_PER_H})
    yield {**least, "simulated": interval_h * S_PER_H}
    over = row("checkpoint", "exact over least simulated", "time_ratio", {"estimate": 1.0})
    if np.isfinite(ratio):
        over |= {"simulated": ratio, "agreement": "yes" if ratio <= WITHIN else "simulation higher"}
    yield over


def recovery(plan: Plan) -> Iterator[Row]:
    """Goodput by way of recovery, in both readings of the rate."""
    seen = plan.history(plan.rate.estimate)
    for way in plan.ways:
        for reading in READINGS:
            simulated = plan.simulated_goodput(plan.rate.estimate or 0.0, way, reading, seen)
            told = plan.rate.told(plan.goodput(way, reading), falls=True)
            yield beside(row("recovery", f"{way}, failures per {reading} hour", "goodput", told), simulated)


def training(plan: Plan) -> Iterator[Row]:
    """Days of the training, and its cost, by way of recovery and reading; first without any failure."""
    days = plan.productive_days
    if days is None:
        return
    for quantity, scale in plan.day_in.items():
        yield row("training", "without failures", quantity, {"estimate": days * scale})
    seen = plan.history(plan.rate.estimate)
    for way in plan.ways:
        for reading in READINGS:
            simulated = plan.simulated_goodput(plan.rate.estimate or 0.0, way, reading, seen)
            for quantity, scale in plan.day_in.items():
                told = plan.rate.told(_over(plan.goodput(way, reading), days * scale), falls=False)
                named = row("training", f"{way}, failures per {reading} hour", quantity, told)
                yield beside(named, simulated and simulated.inverse(days * scale))


def _over(share: Callable[[float], float | None], amount: float) -> Callable[[float], float | None]:
    return lambda rate: amount / found if (found := share(rate)) else None


def spares(plan: Plan) -> Iterator[Row]:
    """The fewest spares with which all instances are there for the share of time asked for, and that share."""
    availability, lead_h = plan.job.availability, plan.job.lead_h
    if availability is None or lead_h is None:
        return
    for name, enough in SPARES.items():
        yield from _spares(plan, name, enough, (availability, lead_h))


def _spares(plan: Plan, name: str, enough: Enough, asked: tuple[float, float]) -> Iterator[Row]:
    """Rows of one kind; `asked`: availability, hours until an instance is back."""
    availability, lead_h = asked
    away_h = lead_h * plan.job.repaired_share
    told = plan.rate.told(lambda rate: formulas.spares_needed(enough, plan.n, rate * away_h, availability), falls=False)
    named = row("spares", name, "n_spares", told)
    if plan.rate.estimate is None:
        yield named
        return
    n_spares = formulas.spares_needed(enough, plan.n, plan.rate.estimate * away_h, availability)
    n_away = _away(plan, n_spares, lead_h, is_running=enough is formulas.binomial_enough)
    chance = plan.rate.told(lambda rate: enough(n_spares, plan.n, rate * away_h), falls=True)
    yield named if n_away is None else {**named, "simulated": simulation.needed(n_away, availability)}
    yield beside(row("spares", name, "enough_ratio", chance), None if n_away is None else simulation.enough(n_away, n_spares))


def _away(plan: Plan, n_spares: int, lead_h: float, *, is_running: bool) -> Counts | None:
    """Instances away in the simulated fleet; where spares run too, those that are away do not."""
    rate = (plan.rate.estimate or 0.0) * plan.job.repaired_share
    seen = plan.history(rate, plan.n + n_spares, lead_h) if is_running else plan.history(rate)
    return None if seen is None else simulation.away(seen, lead_h, plan.world.repair_crews)
