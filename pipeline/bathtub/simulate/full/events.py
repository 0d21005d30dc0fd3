"""Records of what happened: planted incidents, attempts of jobs, nodes out of use, parts that were moved."""

from dataclasses import dataclass, field

from bathtub.simulate.full.kinds import Kind


@dataclass(eq=False, kw_only=True)
class Attempt:
    """One attempt of a job. `run` is the same for all attempts of one program; times are seconds after the start."""

    job_id: int
    run: str
    lane: int
    submitted_s: float
    started_s: float
    ended_s: float
    state: str
    exit_code: str
    nodes: tuple[int, ...]
    user: str
    name: str
    failed_node: int | None = None
    checkpoint_s: float = 3600.0
    ended_by: "Event | None" = None

    @property
    def world(self) -> int:
        """Number of ranks, one per GPU."""
        return len(self.nodes) * 8


@dataclass(eq=False, kw_only=True)
class Event:
    """A planted incident. `nodes` are those that it hits, `node` the first; `device` is a slot of that node."""

    kind: Kind
    at_s: float
    node: int
    device: int
    number: int
    nodes: tuple[int, ...] = ()
    is_silent: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    restarted_s: float | None = None
    replaced_s: float | None = None
    dead_s: float | None = None

    @property
    def planted_id(self) -> str:
        """Its name in the truth."""
        return f"{self.kind.name}-{self.number:05}"


@dataclass(frozen=True, kw_only=True)
class Outage:
    """A node out of use, as the scheduler sees it, and the time within in which it does not run."""

    node: int
    since_s: float
    until_s: float
    state: str
    reason: str
    user: str
    dark: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class Move:
    """What a technician did to a slot: a new part, or an exchange with another slot of the node."""

    at_s: float
    node: int
    device_class: str
    slot: int
    other: int | None = None


@dataclass
class History:
    """Everything that happened."""

    events: list[Event] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
