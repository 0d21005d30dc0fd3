"""What is to happen: candidate incidents of the hazards, planned windows, and their order."""

from collections.abc import Iterator

from bathtub.simulate.full.endings import helper
from bathtub.simulate.full.events import Event, History
from bathtub.simulate.full.hazards import strikes
from bathtub.simulate.full.jobs import Cluster
from bathtub.simulate.full.kinds import BY_COMPONENT, WINDOW, choose
from bathtub.simulate.full.ordinary import lost_day
from bathtub.simulate.full.settings import GPUS_PER_NODE, HOUR_S, Settings, midnight
from bathtub.simulate.full.topology import Fleet

P_SILENT = 0.06
"""The share of deaths whose last lines never reach a disk."""

WINDOW_DAYS, WINDOW_HOUR = 14, 9
FIRST_HELPER = 90_000


def candidates(settings: Settings, fleet: Fleet) -> Iterator[Event]:
    """Every incident that happens if its part is in use and its job runs."""
    number = 0
    for at_s, node, component, draw in strikes(settings, fleet):
        kind = choose(BY_COMPONENT[component], draw)
        chance = settings.rng("scope", node, int(at_s))
        nodes = fleet.sharing(kind.shares, node) if kind.shares else (node,)
        is_silent = kind.ends in {"abort", "node"} and bool(kind.script) and not kind.shares and chance.random() < P_SILENT
        number += 1
        yield Event(
            kind=kind, at_s=at_s, node=nodes[0], nodes=nodes, device=int(chance.integers(GPUS_PER_NODE)), number=number,
            is_silent=is_silent,
        )  # fmt: skip
    yield from _windows(settings, fleet, number)


def _windows(settings: Settings, fleet: Fleet, number: int) -> Iterator[Event]:
    """A window of each rack every two weeks, rack by rack."""
    for rack in range(fleet.n_racks):
        nodes = tuple(node.index for node in fleet.nodes if node.rack == rack)
        for day in range(1 + rack * 5 % WINDOW_DAYS, settings.n_days, WINDOW_DAYS):
            number += 1
            at_s = midnight(day) + (WINDOW_HOUR + 0.1) * HOUR_S
            yield Event(kind=WINDOW, at_s=at_s, node=nodes[0], nodes=nodes, device=0, number=number)


def history(settings: Settings, fleet: Fleet) -> History:
    """Everything that happens, with the benign faults that stand beside it."""
    found = Cluster(settings, candidates(settings, fleet)).run()
    helpers = [helper(settings, event, FIRST_HELPER + event.number) for event in found.events]
    found.events += [event for event in helpers if event is not None]
    for event in found.events:
        day = lost_day(settings, fleet.nodes[event.node])
        if day is not None and len(event.nodes) <= 1 and midnight(day) <= event.at_s < midnight(day + 1):
            event.is_silent = True
    found.events.sort(key=lambda event: (event.at_s, event.number))
    found.outages.sort(key=lambda outage: (outage.since_s, outage.node))
    found.moves.sort(key=lambda move: (move.at_s, move.node))
    return found
