"""A job at a rate in a simulated world, its goodput in closed form and simulated, and the rows that tables are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bathtub.planning import formulas, simulation
from bathtub.planning.flags import Job
from bathtub.planning.formulas import Reading
from bathtub.planning.rates import Rate
from bathtub.planning.simulation import History, Simulated, World

COLUMNS = ("table", "item", "quantity", "estimate", "low", "high", "simulated", "mc_error", "agreement", "reason")
WAYS = ("checkpoint_restart", "peer_recovery")
S_PER_H, H_PER_DAY = 3600.0, 24.0

Row = dict[str, object]


def row(table: str, item: object, quantity: str, told: Mapping[str, object]) -> Row:
    """One row in the order of COLUMNS, not simulated."""
    values = {"table": table, "item": str(item), "quantity": quantity, **told}
    if values.get("estimate") is None and values.get("reason") is None:
        values["reason"] = "infeasible"
    return {name: values.get(name) for name in COLUMNS}


def beside(told: Row, seen: Simulated | None) -> Row:
    """The row with the simulation beside its closed form, and whether they agree."""
    estimate = told["estimate"]
    if not isinstance(estimate, float):
        return told
    if seen is None:
        return {**told, "agreement": "not simulated"}
    verdict = "yes" if seen.agrees_with(estimate) else "simulation higher" if seen.value > estimate else "simulation lower"
    return {**told, "simulated": seen.value, "mc_error": seen.error, "agreement": verdict}


@dataclass(frozen=True)
class Plan:
    """A job of `n` instances at a rate, in a simulated world."""

    rate: Rate
    n: int
    job: Job
    world: World

    def history(self, rate: float | None, n: int | None = None, away_h: float = 0.0) -> History | None:
        """A simulated history at a rate; null without failures."""
        return simulation.history(rate, n or self.n, self.world, away_h) if rate else None

    def mtbf_h(self, rate: float) -> float:
        """Of the whole job."""
        return formulas.mtbf_h(rate, self.n)

    def checkpoint(self, rate: float) -> tuple[float, float] | None:
        """Hours of work between checkpoints, as chosen or the best at this rate, and hours of one; null without checkpoints."""
        if self.job.checkpoint_s is None:
            return None
        cost_h, chosen = self.job.checkpoint_s / S_PER_H, self.job.interval_s
        return (formulas.exact_h(cost_h, self.mtbf_h(rate)) if chosen is None else chosen / S_PER_H), cost_h

    @property
    def ways(self) -> list[str]:
        """The ways of recovery whose times are given."""
        return [way for way in WAYS if self._recovery_h(way) is not None]

    def _recovery_h(self, way: str) -> float | None:
        seconds = self.job.recovery_s if way == "checkpoint_restart" else self.job.peer_recovery_s
        return None if seconds is None else seconds / S_PER_H

    def goodput(self, way: str, reading: Reading) -> Callable[[float], float | None]:
        """Closed form of the rate; null where recovery never ends."""
        recovery_h = self._recovery_h(way) or 0.0

        def figure(rate: float) -> float | None:
            running = formulas.running_ratio(rate * self.n * recovery_h, reading)
            checkpoint = self.checkpoint(rate) if way == "checkpoint_restart" else None
            if running is None or checkpoint is None:
                return running
            return running * formulas.kept_ratio(*checkpoint, self.mtbf_h(rate))

        return figure

    def simulated_goodput(self, rate: float, way: str, reading: Reading, seen: History | None) -> Simulated | None:
        """The same out of a history at that rate; null where recovery never ends."""
        if seen is None or self.goodput(way, reading)(rate) is None:
            return None
        checkpoint = self.checkpoint(rate) if way == "checkpoint_restart" else None
        return simulation.goodput(seen, self._recovery_h(way) or 0.0, checkpoint, reading)

    @property
    def productive_days(self) -> float | None:
        """Days of the training if nothing failed."""
        hours = self.job.gpu_hours
        return None if hours is None else hours / (self.n * self.job.gpus_per_instance) / H_PER_DAY

    @property
    def day_in(self) -> dict[str, float]:
        """What one day is in each quantity that is told of the training."""
        price = self.job.price_per_gpu_h
        return {"days": 1.0} | ({} if price is None else {"cost": H_PER_DAY * self.n * self.job.gpus_per_instance * price})
