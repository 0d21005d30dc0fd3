"""What fewer failures of one component would save: each component's rate halved, and removed.

Failures are counted per productive hour; the interval between checkpoints is the one chosen, else the best at the rate
that is left. Limits are those of the component's own count, all other components staying as they are. A component without
failures has only an upper bound: what removing it could save at most.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bathtub.planning._plan import Plan, Row, beside, row
from bathtub.planning.rates import Measured, Rate, counted
from bathtub.planning.simulation import Simulated

SHARES = {"halved": 0.5, "removed": 1.0}
NOTHING = 1e-9
"""Share of the whole rate below which what is left of it is rounding."""


@dataclass(frozen=True)
class _Saving:
    """A plan in which a share of one component's rate goes away."""

    plan: Plan
    part: Rate
    share: float
    amount: float | None
    """What is done in the end, of which 1/goodput is taken; null for goodput itself."""

    @property
    def total(self) -> float:
        return self.plan.rate.estimate or 0.0

    def figure(self, rate: float) -> float | None:
        """What is saved where the component fails at this rate."""
        others = self.total - (self.part.estimate or 0.0)
        share = self.plan.goodput(self.plan.ways[0], "productive")
        before, after = share(others + rate), share(self._rest(others + rate * (1 - self.share)))
        if not before or not after:
            return None
        return after - before if self.amount is None else self.amount / before - self.amount / after

    def simulated(self) -> Simulated | None:
        """The difference of two histories, before and after."""
        before, after = (self._seen(rate) for rate in (self.total, self.total - self.share * (self.part.estimate or 0.0)))
        if before is None or after is None:
            return None
        if self.amount is None:
            return after.less(before)
        longer, shorter = before.inverse(self.amount), after.inverse(self.amount)
        return longer and shorter and longer.less(shorter)

    def _rest(self, rate: float) -> float:
        return rate if rate > NOTHING * self.total else 0.0

    def _seen(self, rate: float) -> Simulated | None:
        way = self.plan.ways[0]
        if self._rest(rate) == 0:
            return Simulated(self.plan.goodput(way, "productive")(0.0) or 1.0, 0.0)
        return self.plan.simulated_goodput(rate, way, "productive", self.plan.history(rate))


def improvements(plan: Plan, measured: Measured | None, level: float) -> Iterator[Row]:
    """Goodput gained, days and money saved per component, those that failed most first."""
    if measured is None or not plan.ways or not plan.rate.estimate:
        return
    for component, n_failures in sorted(measured.failures.items(), key=lambda each: (-each[1], each[0])):
        part = counted(n_failures, measured.instance_h, level)
        for name, share in SHARES.items():
            if n_failures or name == "removed":
                yield from _rows(plan, part, f"{component} {name}", share)


def _rows(plan: Plan, part: Rate, item: str, share: float) -> Iterator[Row]:
    days = plan.productive_days
    amounts: dict[str, float | None] = {"goodput_gain": None}
    amounts |= {} if days is None else {f"{quantity}_saved": days * scale for quantity, scale in plan.day_in.items()}
    for quantity, amount in amounts.items():
        saving = _Saving(plan, part, share, amount)
        figure: Callable[[float], float | None] = saving.figure
        told = row("improvements", item, quantity, part.told(figure, falls=False))
        yield beside(told, saving.simulated()) if part.estimate else told
