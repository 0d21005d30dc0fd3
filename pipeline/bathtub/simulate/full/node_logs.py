"""The logs of the nodes: a file per node and week, or per rack and day from its log host; and what people saved of dmesg."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge
from pathlib import Path

from bathtub.simulate.full.damage import copied, damaged
from bathtub.simulate.full.devices import Parts
from bathtub.simulate.full.events import Event, History
from bathtub.simulate.full.files import opened
from bathtub.simulate.full.lines import Line, planted
from bathtub.simulate.full.ordinary import boot, healthy, lost_day
from bathtub.simulate.full.settings import HOUR_S, Settings, midnight
from bathtub.simulate.full.topology import Node
from bathtub.simulate.full.wrappers import WRAPPERS, dmesg, stamp_name

WEEK, ROTATED_AFTER_S = 7, 3.2 * HOUR_S
P_SAVED = 0.4


@dataclass
class NodeLogs:
    """All lines of all nodes, a node and a day at a time."""

    settings: Settings
    history: History
    parts: Parts
    struck: dict[int, list[Event]] = field(default_factory=lambda: defaultdict(list))
    dark: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    jobs: dict[int, list[Line]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for event in self.history.events:
            for node in event.nodes or (event.node,):
                self.struck[node].append(event)
        for outage in self.history.outages:
            if outage.dark is not None:
                self.dark[outage.node].append(outage.dark)
        for attempt in self.history.attempts:
            text = f"launch task StepId={attempt.job_id}.0 request from UID:5000 GID:5000"
            for node in attempt.nodes[:64]:
                self.jobs[node].append(Line(attempt.started_s, "slurmd", 2204, text))

    def boots(self, node: Node) -> list[float]:
        """When a node started, earliest first."""
        return [-node.up_s, *(until for _, until in self.dark[node.index])]

    def of_node(self, node: Node) -> list[tuple[Line, bool]]:
        """What is planted, booted and launched on a node over all the time, in order; True for what is planted."""
        found = [
            (line, True) for event in self.struck[node.index] for line in planted(self.settings, self.parts, event, node.index)
        ]
        found += [(line, True) for at_s in self.boots(node)[1:] for line in boot(node, at_s)]
        found += [(line, False) for line in self.jobs[node.index]]
        kept = [(line, is_planted) for line, is_planted in found if self._is_written(node, line)]
        return sorted(kept, key=lambda each: each[0].at_s)

    def _is_written(self, node: Node, line: Line) -> bool:
        is_dark = any(since <= line.at_s < until for since, until in self.dark[node.index])
        return not is_dark and not (line.emitter == "kernel" and "kernel" in self.settings.missing)

    def day(self, node: Node, number: int, special: list[tuple[Line, bool]]) -> Iterator[tuple[Line, bool]]:
        """The lines of one civil day of one node, in order of time; none of a day whose log was lost."""
        if number == lost_day(self.settings, node):
            return
        since_s, until_s = midnight(number), min(midnight(number + 1), self.settings.end_s)
        first, last = (bisect_left(special, moment, key=lambda each: each[0].at_s) for moment in (since_s, until_s))
        calm = ((line, False) for line in healthy(self.settings, node, number) if self._is_written(node, line))
        yield from merge(special[first:last], calm, key=lambda each: each[0].at_s)


def write(folder: Path, logs: NodeLogs) -> None:
    """All files of all nodes, a rack at a time."""
    fleet = logs.parts.fleet
    for rack in range(fleet.n_racks):
        nodes = [node for node in fleet.nodes if node.rack == rack]
        for node in nodes:
            if node.style != "rack":
                _write_node(folder / "nodes" / node.name, logs, node)
        _write_rack(folder / "loghost" / f"r{rack + 1:03}", logs, [node for node in nodes if node.style == "rack"])


def _write_node(folder: Path, logs: NodeLogs, node: Node) -> None:
    """A file per week: rotated and compressed, the last one as it stands."""
    special, boots, wrap = logs.of_node(node), logs.boots(node), WRAPPERS[node.style]
    stem = {"messages": "messages", "journal": "journal.json", "iso": "journal.log"}[node.style]
    n_days = logs.settings.n_days
    for first in range(0, n_days, WEEK):
        last = min(first + WEEK, n_days)
        is_current = last == n_days
        at_s = midnight(last) + ROTATED_AFTER_S
        path = folder / (stem if is_current else f"{stem}-{stamp_name(at_s)}.gz")
        chance = logs.settings.rng("files", node.index, first + 1)
        days = (each for day in range(first, last) for each in logs.day(node, day, special))
        texts = ((wrap(line, node, boots), is_planted) for line, is_planted in days)
        with opened(path, at_s) as file:
            file.writelines(damaged(texts, chance) if logs.settings.has_corruption else (text.encode() for text, _ in texts))
        if logs.settings.has_corruption:
            copied(path, at_s, chance)
    if node.style in {"messages", "iso"}:
        _save(folder.parent.parent / "dmesg" / node.name, logs, node)


def _write_rack(folder: Path, logs: NodeLogs, nodes: list[Node]) -> None:
    """A file per day with the lines of several nodes in order of arrival, each with the clock of its node."""
    special = {node.index: logs.of_node(node) for node in nodes}
    boots = {node.index: logs.boots(node) for node in nodes}
    for day in range(logs.settings.n_days if nodes else 0):
        chance = logs.settings.rng("files", nodes[0].index, day, 1)
        streams = [_named(node, logs.day(node, day, special[node.index])) for node in nodes]
        merged = merge(*streams, key=lambda each: each[0].at_s)
        texts = ((WRAPPERS["rack"](line, node, boots[node.index]), flag) for line, flag, node in merged)
        with opened(folder / f"messages-{stamp_name(midnight(day) + HOUR_S)}.log", midnight(day + 1) + 600) as file:
            file.writelines(damaged(texts, chance) if logs.settings.has_corruption else (text.encode() for text, _ in texts))


def _named(node: Node, lines: Iterator[tuple[Line, bool]]) -> Iterator[tuple[Line, bool, Node]]:
    return ((line, is_planted, node) for line, is_planted in lines)


def _save(folder: Path, logs: NodeLogs, node: Node) -> None:
    """What an operator saved of the ring buffer after a GPU's fault, while the node still ran."""
    if "kernel" in logs.settings.missing:
        return
    for event in logs.struck[node.index]:
        chance = logs.settings.rng("files", node.index, event.number, 2)
        at_s = event.at_s + float(chance.uniform(1200, 3000))
        is_dark = any(since - 60 <= at_s and event.at_s <= until for since, until in logs.dark[node.index] if since < at_s)
        if event.kind.device != "gpu" or event.is_silent or is_dark or at_s > logs.settings.end_s or chance.random() > P_SAVED:
            continue
        found = [line for line in planted(logs.settings, logs.parts, event, node.index) if line.emitter == "kernel"]
        if found:
            with opened(folder / f"dmesg-{stamp_name(at_s)}-{event.number}.txt", at_s) as file:
                file.writelines(dmesg(line, float(node.skew_s) / 2).encode() for line in found)
