"""The flags of `bathtub plan`; each names the part of the answer that it opens."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

RATE, JOB, WORLD = Group("How often instances fail"), Group("What is planned"), Group("What is simulated")


@Parameter(name="*", group=RATE)
@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the rate comes from: one of a report, a lake, counts, a rate, an MTBF, a preset."""

    reliability: Annotated[Path | None, Parameter(help="reliability.csv of a nightly run")] = None
    lake: Annotated[Path | None, Parameter(help="folder of a lake: its newest marts")] = None
    exposure: Annotated[str | None, Parameter(help="in_service, allocated or observed; the first that has hours")] = None
    cluster: Annotated[str | None, Parameter(help="name of the cluster, where there are several")] = None
    events: Annotated[int | None, Parameter(help="failures that were counted")] = None
    exposure_h: Annotated[float | None, Parameter(help="instance-hours in which they were counted")] = None
    rate_per_instance_hour: Annotated[float | None, Parameter(help="failures per instance-hour; without limits")] = None
    mtbf_h: Annotated[float | None, Parameter(help="mean time between failures of all --instances together, h")] = None
    preset: Annotated[str | None, Parameter(help="a published case: its figures beside ours; `list` names them")] = None
    level: Annotated[float, Parameter(help="confidence level")] = 0.95


@Parameter(name="*", group=JOB)
@dataclass(frozen=True, kw_only=True)
class Job:
    """What the job is; a part without its flags is left out."""

    instances: Annotated[int | None, Parameter(help="instances (nodes) that must all work")] = None
    sizes: Annotated[str | None, Parameter(help="MTBF of jobs of these sizes: 8,64,512")] = None
    checkpoint_s: Annotated[float | None, Parameter(help="time that a checkpoint takes, s: the best interval")] = None
    interval_s: Annotated[float | None, Parameter(help="work between checkpoints, s; the best by default")] = None
    recovery_s: Annotated[float | None, Parameter(help="from a failure to work after a restart, work lost left out, s")] = None
    peer_recovery_s: Annotated[
        float | None, Parameter(help="the same out of peers' memory, work lost included, without checkpoints, s")
    ] = None
    gpu_hours: Annotated[float | None, Parameter(help="productive GPU-hours of the training: its days")] = None
    gpus_per_instance: Annotated[int, Parameter(help="GPUs of an instance")] = 8
    price_per_gpu_h: Annotated[float | None, Parameter(help="price of a GPU-hour: costs")] = None
    availability: Annotated[float | None, Parameter(help="share of time with all instances: spares, with --lead-h")] = None
    lead_h: Annotated[float | None, Parameter(help="hours until a failed instance is back")] = None
    repaired_share: Annotated[float, Parameter(help="share of failures that take their instance away so long")] = 1.0


@Parameter(name="*", group=WORLD)
@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """Assumptions of the closed forms that the simulation breaks."""

    seed: Annotated[int, Parameter(help="equal seeds give equal numbers")] = 7
    simulated_failures: Annotated[int, Parameter(help="about so many failures, 1,000 to 1,000,000")] = 20_000
    weibull_shape: Annotated[float, Parameter(help="of an instance's life, 0.3 to 10; below 1: instances die young")] = 1.0
    failures_at_once: Annotated[int, Parameter(help="instances that one cause takes together")] = 1
    repair_crews: Annotated[int | None, Parameter(help="instances repaired at one time; no bound by default")] = None
    run_h: Annotated[float, Parameter(help="hours of a run; each starts with a new fleet")] = 720.0
