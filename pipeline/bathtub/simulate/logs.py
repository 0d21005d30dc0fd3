"""The log files of the nodes: RFC 3164 text on some, the journal's short-iso on the others."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain

from bathtub.simulate import background
from bathtub.simulate.cluster import NODES, STARTED_AT, clock, local, rng
from bathtub.simulate.jobs import Attempt, Incident
from bathtub.simulate.kernel import KERNEL, Line, lines
from bathtub.simulate.plant import Fleet

N_SYSLOG = 10
ROTATED = ("gpu-a01", "gpu-a04", "gpu-a07", "gpu-a10")
ROTATED_AT = clock(8, "03:10")
DOWN = timedelta(minutes=25)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def node_lines(seed: int, incidents: list[Incident], attempts: list[Attempt], fleet: Fleet) -> dict[str, list[Line]]:
    """All collected lines of each node, in order of time."""
    planted = chain.from_iterable(
        lines(incident, fleet.cards(incident.node, incident.started_at), rng(seed, "kernel", incident.row.planted_id))
        for incident in incidents
    )
    ordinary = chain.from_iterable(background.ordinary(node, rng(seed, "ordinary", node)) for node in NODES)
    alive = (line for line in chain(ordinary, background.jobs(attempts)) if not _is_down(line, incidents))
    starts = ((node, start) for node in NODES for start in restarts(incidents, node))
    booted = chain.from_iterable(background.boot(node, fleet.cards(node, start), start) for node, start in starts)
    found: dict[str, list[Line]] = {node: [] for node in NODES}
    for line in sorted(chain(planted, alive, booted)):
        if background.is_collected(line):
            found[line.node].append(line)
    return found


def restarts(incidents: list[Incident], node: str) -> list[datetime]:
    """When a node came back after it was down."""
    return [incident.started_at + DOWN for incident in incidents if incident.row.is_node_down and incident.node == node]


def _is_down(line: Line, incidents: list[Incident]) -> bool:
    return any(start - DOWN <= line.seen_at < start for start in restarts(incidents, line.node))


def boots(seed: int, incidents: list[Incident], node: str) -> list[datetime]:
    """When a node started, earliest first: once before the two weeks, and after it was down."""
    first = STARTED_AT - timedelta(seconds=rng(seed, "boot", node).randrange(86_400, 40 * 86_400))
    return [first, *sorted(restarts(incidents, node))]


def syslog(found: Iterable[Line], started: list[datetime]) -> bytes:
    """`Mar  4 22:15:17 gpu-a01 kernel: [12345.678901] ...`: local time without year or zone."""
    return b"".join(
        f"{_bsd(line.seen_at)} {line.node} {_tag(line)}: {_uptime(line, started)}{line.text}\n".encode() for line in found
    )


def journal(found: Iterable[Line]) -> bytes:
    """`journalctl -o short-iso`: local time with its offset."""
    return b"".join(
        f"{local(line.seen_at):%Y-%m-%dT%H:%M:%S%z} {line.node} {_tag(line)}: {line.text}\n".encode() for line in found
    )


def files(seed: int, incidents: list[Incident], found: dict[str, list[Line]]) -> Iterator[tuple[str, bytes]]:
    """Name below the node's folder and content; the part before the rotation has its date in the name."""
    for node in NODES[:N_SYSLOG]:
        started = boots(seed, incidents, node)
        older = [line for line in found[node] if node in ROTATED and line.seen_at < ROTATED_AT]
        if older:
            yield f"{node}/messages-{local(ROTATED_AT):%Y%m%d}", syslog(older, started)
        yield f"{node}/messages", syslog(found[node][len(older) :], started)
    for node in NODES[N_SYSLOG:]:
        yield f"{node}/journal.log", journal(found[node])


def _bsd(seen_at: datetime) -> str:
    there = local(seen_at)
    return f"{MONTHS[there.month - 1]} {there.day:>2} {there:%H:%M:%S}"


def _tag(line: Line) -> str:
    return line.emitter if line.pid is None else f"{line.emitter}[{line.pid}]"


def _uptime(line: Line, started: list[datetime]) -> str:
    if line.emitter != KERNEL:
        return ""
    up = line.seen_at - max(start for start in started if start <= line.seen_at)
    return f"[{up // timedelta(seconds=1):5}.{up.microseconds:06}] "
