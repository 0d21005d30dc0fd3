"""How attempts end, and how long what struck them lasts."""

from dataclasses import dataclass

from bathtub.simulate.full.events import Attempt, Event, Move, Outage
from bathtub.simulate.full.host_scripts import SCRIPTS
from bathtub.simulate.full.kinds import BENIGN, STOPPED, USERS, choose
from bathtub.simulate.full.lanes import USERS as UIDS
from bathtub.simulate.full.settings import GPUS_PER_NODE, HOUR_S, Settings

SLURMD_TIMEOUT_S, COLLECTIVE_TIMEOUT_S = 300.0, 600.0
P_FAILED, P_STOPPED, P_TIMEOUT = 0.05, 0.06, 0.04
"""Shares of ordinary ends: by the user's own mistake, by the user, by the time limit."""


@dataclass(frozen=True)
class Ending:
    """State and exit codes, and the seconds from the incident to the end of the attempt: from, to."""

    state: str
    exit_codes: tuple[str, ...]
    after_s: tuple[float, float]


ENDINGS: dict[str, Ending | None] = {
    "none": None,
    "abort": Ending("FAILED", ("134:0", "1:0", "6:0"), (4, 80)),
    "node": Ending("NODE_FAIL", ("0:1", "0:0"), (SLURMD_TIMEOUT_S, SLURMD_TIMEOUT_S + 40)),
    "hang": Ending("FAILED", ("134:0", "6:0"), (COLLECTIVE_TIMEOUT_S + 5, COLLECTIVE_TIMEOUT_S + 90)),
    "exit": Ending("FAILED", ("1:0", "2:0"), (2, 9)),
    "memory": Ending("OUT_OF_MEMORY", ("0:125",), (1, 4)),
    "launch": Ending("NODE_FAIL", ("0:1",), (3, 20)),
    "cancel": Ending("CANCELLED by 0", ("0:0",), (1, 3)),
    "taken": Ending("NODE_FAIL", ("0:1",), (1, 4)),
}


def blow(settings: Settings, event: Event, attempt: Attempt) -> None:
    """Ends an attempt as the kind of its incident does."""
    ending = ENDINGS[event.kind.ends]
    assert ending is not None
    chance = settings.rng("ending", attempt.job_id, int(event.at_s), 1)
    # The scheduler counts whole seconds.
    attempt.ended_s = float(int(event.at_s + chance.uniform(*ending.after_s)) + 1)
    attempt.state, attempt.exit_code = ending.state, str(chance.choice(ending.exit_codes))
    if ending.state == "NODE_FAIL":
        attempt.failed_node = next((node for node in event.nodes or (event.node,) if node in attempt.nodes), event.node)
    attempt.ended_by = event
    event.attempts.append(attempt)


def ordinary(settings: Settings, attempt: Attempt, number: int) -> Event | None:
    """How an attempt ends that nothing struck: mostly well. What its user did to it is an event of its own."""
    chance = settings.rng("ending", attempt.job_id, int(attempt.started_s), 2)
    node = int(chance.choice(attempt.nodes))
    draw, device = float(chance.random()), int(chance.integers(GPUS_PER_NODE))
    if draw < P_FAILED:
        kind = choose(USERS, float(chance.random()))
        event = Event(kind=kind, at_s=attempt.ended_s - float(chance.uniform(2, 6)), node=node, device=device, number=number)
        ending = ENDINGS[kind.ends]
        assert ending is not None
        attempt.state, attempt.exit_code, attempt.ended_by = ending.state, str(chance.choice(ending.exit_codes)), event
        event.attempts.append(attempt)
        return event
    if draw < P_FAILED + P_STOPPED:
        attempt.state = f"CANCELLED by {UIDS[attempt.user]}"
        if chance.random() < 0.3:  # noqa: PLR2004 - in most cases the program ends before its channels are torn down
            event = Event(kind=STOPPED, at_s=attempt.ended_s - 1.0, node=node, device=device, number=number)
            event.attempts.append(attempt)
            attempt.ended_by = event
            return event
    elif draw < P_FAILED + P_STOPPED + P_TIMEOUT:
        attempt.state = "TIMEOUT"
    return None


def repaired(settings: Settings, event: Event) -> tuple[list[Outage], list[Move]]:
    """The nodes that an incident takes out of use, and what is done to their parts."""
    chance = settings.rng("ending", event.node, int(event.at_s), 3)
    outages = [_outage(event, node, float(chance.lognormal(0, 0.4)) * event.kind.repair_h * HOUR_S) for node in event.nodes]
    event.replaced_s = max(outage.until_s for outage in outages)
    if event.kind.ends == "node":
        event.dead_s = event.at_s + last_s(event)
    if not event.kind.swap or chance.random() >= event.kind.swap:
        return outages, []
    is_exchange = event.kind.device == "gpu" and chance.random() < 0.3  # noqa: PLR2004 - to see whether the fault moves along
    other = (event.device + 1 + int(chance.integers(GPUS_PER_NODE - 1))) % GPUS_PER_NODE if is_exchange else None
    at_s = outages[0].until_s - 0.2 * (outages[0].until_s - outages[0].since_s)
    return outages, [Move(at_s=at_s, node=event.node, device_class=event.kind.device, slot=event.device, other=other)]


def last_s(event: Event) -> float:
    """How long an incident's lines last at most, seconds: then its node is dark. Nodes of one incident follow within eight."""
    script = SCRIPTS.get(event.kind.script, ())
    ends = [say.after_s + (say.times - 1) * say.gap_s[1] for say in script if say.after_s < SLURMD_TIMEOUT_S]
    return max(ends, default=0.0) + (9.0 if len(event.nodes) > 1 else 0.5)


def _outage(event: Event, node: int, length_s: float) -> Outage:
    """One node out of use: lost at once, drained by people after the job's end, or in its planned window."""
    kind, ended_s = event.kind, max((attempt.ended_s for attempt in event.attempts), default=event.at_s + 120)
    if kind.is_planned:
        until = event.at_s + kind.repair_h * HOUR_S
        return Outage(
            node=node, since_s=event.at_s - 600, until_s=until, state="MAINT", reason="planned window", user="root",
            dark=(event.at_s + 26, event.at_s + 26 + 0.3 * (until - event.at_s)),
        )  # fmt: skip
    if kind.ends == "node":
        since = float(int(event.at_s + SLURMD_TIMEOUT_S)) if not event.attempts else ended_s
        lost = (event.at_s + last_s(event), since + length_s - 400)
        return Outage(
            node=node, since_s=since, until_s=since + length_s, state="DOWN", reason="Not responding", user="slurm", dark=lost
        )
    if kind.ends == "launch":
        until = ended_s + length_s
        return Outage(node=node, since_s=ended_s, until_s=until, state="DRAINED", reason="Prolog error", user="root", dark=None)
    ticket = f"OPS-{1000 + int(event.at_s) % 9000}"
    reason = f"maintenance {ticket}: out for service" if kind.ends == "taken" else f"{ticket} under investigation"
    since = event.at_s if kind.ends == "taken" else ended_s + 300
    dark = (since + 0.4 * length_s, since + length_s - 600) if length_s > HOUR_S * 1.5 else None
    return Outage(node=node, since_s=since, until_s=since + length_s, state="DRAINED", reason=reason, user="ops", dark=dark)


def helper(settings: Settings, event: Event, number: int) -> Event | None:
    """A benign fault on another node of the job, well before an incident that has nothing to do with it."""
    attempt = event.attempts[0] if event.attempts else None
    chance = settings.rng("ending", event.node, int(event.at_s), 4)
    if attempt is None or event.kind.needs_job or len(attempt.nodes) == 1 or chance.random() > 0.1:  # noqa: PLR2004
        return None
    at_s = event.at_s - float(chance.uniform(1500, 3000))
    others = [node for node in attempt.nodes if node not in event.nodes]
    if at_s < attempt.started_s + 600 or not others:
        return None
    node = others[int(chance.integers(len(others)))]
    return Event(kind=BENIGN, at_s=at_s, node=node, device=int(chance.integers(GPUS_PER_NODE)), number=number, nodes=(node,))
