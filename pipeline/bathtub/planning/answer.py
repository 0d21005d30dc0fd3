"""What `bathtub plan` answers: the rate, the published figures of a preset, and the tables whose flags are given."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from bathtub.planning import presets, rates, tables
from bathtub.planning._plan import Plan, Row, row
from bathtub.planning.flags import Assumptions, Job, Source
from bathtub.planning.formulas import mtbf_h
from bathtub.planning.improvements import improvements
from bathtub.planning.rates import Measured, Rate
from bathtub.planning.simulation import World

MOST_INSTANCES = 1_000_000
TITLES = {
    "presets": "published cases",
    "published": "published figures beside ours",
    "rate": "failures per instance-hour",
    "sizes": "MTBF of the job by its size: independent instances in series",
    "checkpoint": "work between checkpoints, and time per hour of work (recovery left out)",
    "recovery": "goodput, the share of wall-clock time that is work done once",
    "spares": "spare instances, and the share of time in which they are enough",
    "training": "days and cost of the training",
    "improvements": "what fewer failures of one component would save (failures per productive hour)",
}
"""The tables in the order in which they are told."""


@dataclass(frozen=True)
class Basis:
    """The rate, the size that it came with, the components behind it."""

    rate: Rate
    n: int | None = None
    measured: Measured | None = None


def answer(source: Source, job: Job, assumptions: Assumptions, mart: Path | None = None) -> Iterator[Row]:
    """Rows of all tables; `mart` is the file of reliability_cells where a lake is named.

    Beside a preset the tables stand only where a flag of the job is given.

    Raises ValueError and FileNotFoundError for what cannot be planned with.
    """
    refuse(job)
    if source.preset == "list":
        yield from presets.listed()
        return
    if source.preset is not None:
        yield from presets.published(source.preset, source.level)
        if job == Job():
            return
    basis = _basis(source, job, mart)
    if basis is None:
        return
    n = job.instances or basis.n
    if n is None or not 1 <= n <= MOST_INSTANCES:
        raise ValueError(f"how many instances must work is not known: give --instances, 1 to {MOST_INSTANCES:,}")
    world = _world(assumptions)
    plan = Plan(basis.rate, n, job, world)
    yield from _rate_rows(basis)
    for table in (tables.sizes, tables.checkpoint, tables.recovery, tables.spares, tables.training):
        yield from table(plan)
    yield from improvements(plan, basis.measured, source.level)


def refuse(job: Job) -> None:
    """Raises ValueError for a flag without meaning: numbers are finite and above 0, shares below 1."""
    for name, value in asdict(job).items():
        if isinstance(value, (int, float)) and not (math.isfinite(value) and 0 < value <= 1e15):  # noqa: PLR2004 - wild
            raise ValueError(f"--{name.replace('_', '-')} {value:g}: give a finite number above 0")
    if job.availability is not None and not job.availability < 1:
        raise ValueError("--availability is a share of time below 1, such as 0.99")
    if not 1e-6 <= job.repaired_share <= 1:  # noqa: PLR2004 - the words beside it
        raise ValueError("--repaired-share is 1e-6 to 1")
    if job.interval_s is not None and job.checkpoint_s is None:
        raise ValueError("--interval-s says nothing without --checkpoint-s")
    if job.price_per_gpu_h is not None and job.gpu_hours is None:
        raise ValueError("--price-per-gpu-h says nothing without --gpu-hours")
    if (job.availability is None) != (job.lead_h is None):
        raise ValueError("give --availability and --lead-h together")


def _world(assumptions: Assumptions) -> World:
    renamed = {"simulated_failures": "n_failures", "weibull_shape": "shape"}
    given = {field.name: getattr(assumptions, field.name) for field in fields(assumptions)}
    return replace(World(), **{renamed.get(name, name): value for name, value in given.items()})


def _basis(source: Source, job: Job, mart: Path | None) -> Basis | None:
    """The one rate that was named; null where only a preset's figures are asked for and it has no rate."""
    given = {
        "--reliability": source.reliability,
        "--lake": mart,
        "--events": source.events,
        "--rate-per-instance-hour": source.rate_per_instance_hour,
        "--mtbf-h": source.mtbf_h,
    }
    named = [name for name, value in given.items() if value is not None]
    if not named and source.preset is not None:
        return _of_preset(source)
    if len(named) != 1:
        raise ValueError(f"name one source of the rate: {', '.join(given)}, or --preset")
    if (source.events is None) != (source.exposure_h is None):
        raise ValueError("give --events and --exposure-h together")
    return _of(named[0], source, job, mart)


def _of(name: str, source: Source, job: Job, mart: Path | None) -> Basis:
    path = source.reliability or mart
    if path is not None:
        measured = rates.read(path, source.exposure, source.cluster)
        rate = rates.counted(sum(measured.failures.values()), measured.instance_h, source.level)
        return Basis(rate, measured.n_instances, measured)
    if name == "--mtbf-h":
        if not source.mtbf_h or not source.mtbf_h > 0 or not job.instances:
            raise ValueError("--mtbf-h is above 0, and that of --instances together: give both")
        return Basis(rates.given(1 / (source.mtbf_h * job.instances)))
    if source.rate_per_instance_hour is not None:
        return Basis(rates.given(source.rate_per_instance_hour))
    return Basis(rates.counted(source.events or 0, source.exposure_h or 0.0, source.level))


def _of_preset(source: Source) -> Basis | None:
    """The rate of a preset's first figure that has one."""
    for case in presets.cases(source.preset or ""):
        if case.events is not None:
            return Basis(rates.counted(case.events, case.instance_h, source.level), case.n_instances)
        if case.failures_per_instance_h is not None:
            return Basis(rates.given(case.failures_per_instance_h), case.n_instances)
    return None


def _rate_rows(basis: Basis) -> Iterator[Row]:
    yield row("rate", "one instance", "failures_per_instance_h", basis.rate.told(lambda rate: rate, falls=False))
    yield row("rate", "one instance", "mtbf_h", basis.rate.told(lambda rate: mtbf_h(rate, 1), falls=True))
    for component in basis.measured.not_seen if basis.measured else ():
        yield row("rate", component, "failures_per_instance_h", {"reason": "no_source_read"})
