"""Which GPU and which card stood in which slot when: serials as delivered, new parts, parts that changed places."""

import csv
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bathtub.simulate.full.events import Move
from bathtub.simulate.full.settings import CLUSTER, STARTED_AT, Settings, at
from bathtub.simulate.full.topology import LOTS, NICS, SLOTS, Fleet, Node

MODELS = {
    "gpu": ("NVIDIA H100 80GB HBM3", "692-2G520-0200-000", "96.00.99.00.01"),
    "nic": ("ConnectX-7", "MCX75310AAS-NEAT", "28.39.2048"),
}
PLACES = {"gpu": SLOTS, "nic": NICS}
COLUMNS = (
    "cluster", "node", "rack", "slot", "device_class", "pci_bdf", "device_uuid", "device_serial", "part_number",
    "vendor", "model", "lot", "firmware", "in_service_at", "removed_at",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A part with its names; a card has no UUID."""

    serial: str
    uuid: str
    lot: str


@dataclass
class Parts:
    """The parts of all slots. `stays` maps (class, node, slot) to (seconds after the start, part) in order of time."""

    settings: Settings
    fleet: Fleet
    moves: list[Move]
    stays: dict[tuple[str, int, int], list[tuple[float, Part]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, move in enumerate(sorted(self.moves, key=lambda each: each.at_s)):
            here = (move.device_class, move.node, move.slot)
            if move.other is None:
                self._put(here, move.at_s, _part(self.settings, move.device_class, move.node, 1000 + number, "L2601"))
            else:
                there = (move.device_class, move.node, move.other)
                mine, other = self.part(*here, move.at_s), self.part(*there, move.at_s)
                self._put(here, move.at_s, other)
                self._put(there, move.at_s, mine)

    def _put(self, place: tuple[str, int, int], at_s: float, part: Part) -> None:
        self.stays[place].append((at_s, part))

    def first(self, device_class: str, node: int, slot: int) -> Part:
        """The part as delivered."""
        return _part(self.settings, device_class, node, slot, LOTS[self.fleet.nodes[node].lot][1])

    def part(self, device_class: str, node: int, slot: int, at_s: float) -> Part:
        """The part in a slot at a time."""
        stays = self.stays.get((device_class, node, slot), [])
        known = bisect_right(stays, at_s, key=lambda stay: stay[0])
        return stays[known - 1][1] if known else self.first(device_class, node, slot)

    def intervals(self, device_class: str, node: int, slot: int) -> Iterator[tuple[float | None, float | None, Part]]:
        """(from, to, part): None from is delivery, None to is still there."""
        stays = self.stays.get((device_class, node, slot), [])
        starts = [None, *(since for since, _ in stays)]
        parts = [self.first(device_class, node, slot), *(part for _, part in stays)]
        return zip(starts, [*starts[1:], None], parts, strict=True)


def _part(settings: Settings, device_class: str, node: int, number: int, lot: str) -> Part:
    chance = settings.rng("gpus", node, number, int(device_class == "nic"))
    digits = chance.bytes(16).hex()
    serial = f"{'03' if number % 3 == 0 else '16'}{int(chance.integers(10**11)):011}"
    if device_class == "nic":
        return Part(f"MT{serial[2:12]}", "", lot)
    return Part(serial, f"GPU-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}", lot)


def write_inventory(path: Path, parts: Parts) -> None:
    """inventory.csv: one row per node, and one per part and stay in a slot."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for node in parts.fleet.nodes:
            vendor, lot, days = LOTS[node.lot]
            serial = f"0{int(parts.settings.rng('gpus', node.index, 999).integers(10**12)):012}"
            since = f"{STARTED_AT - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
            rows.writerow(
                (CLUSTER, node.name, f"r{node.rack + 1:03}", "", "node", "", "", serial, "", vendor, "", lot, "", since, "")
            )
            for device_class, places in PLACES.items():
                for slot in range(len(places)):
                    rows.writerows(_stays(parts, node, device_class, slot))


def _stays(parts: Parts, node: Node, device_class: str, slot: int) -> Iterator[tuple[str, ...]]:
    vendor, _, days = LOTS[node.lot]
    model, number, firmware = MODELS[device_class]
    for since_s, until_s, part in parts.intervals(device_class, node.index, slot):
        since = STARTED_AT - timedelta(days=days) if since_s is None else at(since_s)
        until = "" if until_s is None else f"{at(until_s):%Y-%m-%dT%H:%M:%SZ}"
        what = (f"{device_class}{slot}", device_class, PLACES[device_class][slot], part.uuid, part.serial, number)
        rest = (vendor, model, part.lot, firmware, f"{since:%Y-%m-%dT%H:%M:%SZ}", until)
        yield (CLUSTER, node.name, f"r{node.rack + 1:03}", *what, *rest)
