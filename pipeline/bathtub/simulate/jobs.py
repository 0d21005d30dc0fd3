"""The jobs: who runs where and when, around what is planted."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bathtub.simulate.cluster import ENDED_AT, NODES, STARTED_AT, clock, rng
from bathtub.simulate.plan import MAINTENANCE_HHMM, PLAN, REPLACED, REPLACED_AFTER_DAYS, REPLACED_HHMM, SILENT_NODE, Planted

N_BACKGROUND = 190
FIRST_JOB_ID = 48211
CALM = timedelta(hours=1)

USERS = {"amira": 5001, "bo": 5002, "chen": 5003, "dilek": 5004, "emeka": 5005, "farida": 5006}
NAMES = (
    "pretrain-34b",
    "pretrain-7b-v2",
    "sweep|lr=3e-4|bs=512",
    "eval | grep loss",
    "sft-mix3",
    "rlhf-ppo",
    "tokenize",
    'ablation "no-rope"',
    "vit-h14",
    "interactive",
)
ENDINGS = (("COMPLETED", 0.84), ("CANCELLED", 0.07), ("TIMEOUT", 0.06), ("PENDING", 0.03))
SIZES = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt of a job. Without nodes it never started; `key` is the same for all attempts of a job."""

    key: str
    submitted_at: datetime
    started_at: datetime | None
    ended_at: datetime
    state: str
    exit_code: str
    nodes: tuple[str, ...]
    n_nodes: int
    user: str
    name: str
    failed_node: str = ""
    job_id: int = 0


@dataclass(frozen=True)
class Incident:
    """A planted row with its time, its node and its job. `node` is where it happened; the device is on it."""

    row: Planted
    started_at: datetime
    node: str
    device: int
    nodes: tuple[str, ...]
    ended_at: datetime
    attempts: tuple[Attempt, ...] = ()


@dataclass
class Calendar:
    """When each node is taken."""

    taken: dict[str, list[tuple[datetime, datetime]]] = field(default_factory=lambda: {node: [] for node in NODES})

    def free(self, start: datetime, stop: datetime) -> list[str]:
        """The nodes that nobody has in this span."""
        return [node for node, spans in self.taken.items() if all(stop <= since or until <= start for since, until in spans)]

    def take(self, nodes: Iterable[str], start: datetime, stop: datetime) -> None:
        """These nodes are taken in this span."""
        for node in nodes:
            self.taken[node].append((start, stop))


def schedule(seed: int) -> tuple[list[Incident], list[Attempt]]:
    """What is planted, and all attempts (its own among them) numbered in order of submission."""
    calendar = Calendar()
    incidents = [_plant(row, rng(seed, "plan", row.planted_id), calendar) for row in PLAN]
    attempts = [attempt for incident in incidents for attempt in incident.attempts]
    attempts += _background(rng(seed, "jobs"), calendar)
    attempts.sort(key=lambda attempt: (attempt.submitted_at, attempt.key))
    numbers = {key: FIRST_JOB_ID + 3 * number for number, key in enumerate(dict.fromkeys(attempt.key for attempt in attempts))}
    numbered = [replace(attempt, job_id=numbers[attempt.key]) for attempt in attempts]
    return [_with_jobs(incident, numbered) for incident in incidents], numbered


def _with_jobs(incident: Incident, attempts: list[Attempt]) -> Incident:
    own = {attempt.key for attempt in incident.attempts}
    return replace(incident, attempts=tuple(attempt for attempt in attempts if attempt.key in own))


def _plant(row: Planted, chance: random.Random, calendar: Calendar) -> Incident:
    """One planted row on nodes that are free for it, and calm for an hour before its job and after its end."""
    started_at = clock(row.day, row.hhmm, chance.randrange(1200) if not row.is_planned else 0)
    ended_at = started_at + timedelta(seconds=row.ends_after_s)
    began_at = started_at - timedelta(hours=row.ran_h)
    free = [node for node in calendar.free(began_at - CALM, ended_at + 2 * CALM) if node != SILENT_NODE]
    nodes = tuple(sorted(chance.sample(free, max(row.n_nodes, 1))))
    calendar.take(nodes, began_at - CALM / 4, ended_at + 2 * CALM)
    if row.is_planned:
        calendar.take(nodes, *(clock(row.day, hhmm) for hhmm in MAINTENANCE_HHMM))
    incident = Incident(row, started_at, chance.choice(nodes), chance.randrange(8), nodes, ended_at)
    if row.planted_id == REPLACED:
        calendar.take((incident.node,), *replacement(incident))
    return replace(incident, attempts=tuple(_own_attempts(incident, began_at, chance, calendar))) if row.n_nodes else incident


def replacement(incident: Incident) -> tuple[datetime, datetime]:
    """When the GPU of an incident is replaced."""
    since = clock(incident.row.day + REPLACED_AFTER_DAYS, REPLACED_HHMM[0])
    return since, clock(incident.row.day + REPLACED_AFTER_DAYS, REPLACED_HHMM[1])


def _own_attempts(incident: Incident, began_at: datetime, chance: random.Random, calendar: Calendar) -> Iterator[Attempt]:
    """The attempt that the incident ends, and the next one where the scheduler puts the job back."""
    row = incident.row
    uid = row.state.partition(" by ")[2]
    first = Attempt(
        key=row.planted_id,
        submitted_at=_whole(began_at - timedelta(seconds=chance.randrange(5, 900))),
        started_at=_whole(began_at),
        ended_at=_whole(incident.ended_at),
        state=row.state,
        exit_code=row.exit_code,
        nodes=incident.nodes,
        n_nodes=row.n_nodes,
        user=next((user for user, number in USERS.items() if str(number) == uid), chance.choice(list(USERS))),
        name=chance.choice(NAMES),
        failed_node=incident.node if row.state == "NODE_FAIL" else "",
    )
    yield first
    if row.is_requeued:
        yield _second(first, chance, calendar)


def _second(first: Attempt, chance: random.Random, calendar: Calendar) -> Attempt:
    """The attempt after a requeue: the same number, submitted as the first one ends, on nodes that are free."""
    start = first.ended_at + timedelta(minutes=3)
    stop = start + timedelta(hours=5, seconds=chance.randrange(3600))
    nodes = tuple(sorted(chance.sample(calendar.free(start, stop), first.n_nodes)))
    calendar.take(nodes, start, stop)
    return replace(
        first,
        submitted_at=first.ended_at,
        started_at=start,
        ended_at=stop,
        state="COMPLETED",
        exit_code="0:0",
        nodes=nodes,
        failed_node="",
    )


def _background(chance: random.Random, calendar: Calendar) -> Iterator[Attempt]:
    """Ordinary jobs, in order of submission; one that finds no room within twelve hours is cancelled while it waits."""
    span = (ENDED_AT - STARTED_AT).total_seconds()
    for number, moment in enumerate(sorted(chance.uniform(-36000, span - 3600) for _ in range(N_BACKGROUND))):
        submitted_at = _whole(STARTED_AT + timedelta(seconds=moment))
        yield _ordinary(f"job-{number:03}", submitted_at, chance, calendar)


def _ordinary(key: str, submitted_at: datetime, chance: random.Random, calendar: Calendar) -> Attempt:
    ending = chance.choices([name for name, _ in ENDINGS], [share for _, share in ENDINGS])[0]
    n_nodes, user, name = chance.choice(SIZES), chance.choice(list(USERS)), chance.choice(NAMES)
    runs = (
        timedelta(hours=chance.choice((2, 4, 8, 12)))
        if ending == "TIMEOUT"
        else timedelta(seconds=int(chance.lognormvariate(9.6, 0.9)))
    )
    wait = timedelta(seconds=chance.randrange(2, 90))
    placed = None if ending == "PENDING" else _room(n_nodes, submitted_at + wait, runs, chance, calendar)
    is_stopped = placed is None or ending == "CANCELLED"
    return Attempt(
        key=key,
        submitted_at=submitted_at,
        started_at=placed[0] if placed else None,
        ended_at=placed[0] + runs if placed else submitted_at + timedelta(hours=12),
        state=f"CANCELLED by {USERS[user]}" if is_stopped else ending,
        exit_code="0:0",
        nodes=placed[1] if placed else (),
        n_nodes=n_nodes,
        user=user,
        name=name,
    )


def _room(
    n_nodes: int, since: datetime, runs: timedelta, chance: random.Random, calendar: Calendar
) -> tuple[datetime, tuple[str, ...]] | None:
    """When and where so many nodes are free for so long, looked for every quarter of an hour for twelve hours."""
    for quarter in range(48):
        start = since + timedelta(minutes=15 * quarter)
        free = calendar.free(start, start + runs)
        if len(free) >= n_nodes:
            nodes = tuple(sorted(chance.sample(free, n_nodes)))
            calendar.take(nodes, start, start + runs)
            return start, nodes
    return None


def _whole(seen_at: datetime) -> datetime:
    """The scheduler counts whole seconds."""
    return seen_at.replace(microsecond=0)
