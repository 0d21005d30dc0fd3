"""The cluster: its clock, its nodes and its GPUs."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

CLUSTER = "demo"
ZONE_NAME = "Europe/Berlin"
ZONE = ZoneInfo(ZONE_NAME)
N_DAYS = 14
STARTED_AT = datetime(2026, 3, 2, tzinfo=ZONE).astimezone(UTC)
ENDED_AT = STARTED_AT + timedelta(days=N_DAYS)
COLLECTED_AT = ENDED_AT + timedelta(minutes=10)

NODES = tuple(f"gpu-a{number:02}" for number in range(1, 17))
SLOTS = ("0000:18:00", "0000:2a:00", "0000:3a:00", "0000:5d:00", "0000:9a:00", "0000:ab:00", "0000:ba:00", "0000:db:00")


@dataclass(frozen=True)
class Gpu:
    """One GPU as it stands in its slot. `index` is its number on the node."""

    node: str
    index: int
    pci_bdf: str
    uuid: str
    serial: str


def rng(seed: int, *parts: object) -> random.Random:
    """A generator of its own for each part of the simulation: a change in one part leaves the others as they are."""
    return random.Random(":".join(str(part) for part in (seed, *parts)))  # noqa: S311 - a simulation, no secret


def clock(day: int, hhmm: str, seconds: float = 0.0) -> datetime:
    """The instant of a local time on a day of the simulation, the first being 1."""
    hour, minute = (int(part) for part in hhmm.split(":"))
    return STARTED_AT + timedelta(days=day - 1, hours=hour, minutes=minute, seconds=seconds)


def local(seen_at: datetime) -> datetime:
    """The same instant on the cluster's wall."""
    return seen_at.astimezone(ZONE)


def gpus(seed: int) -> dict[str, tuple[Gpu, ...]]:
    """The GPUs of each node at the start. Every third serial begins with a zero."""
    return {
        node: tuple(new_gpu(seed, node, index, "first", has_zero=(number * 8 + index) % 3 == 0) for index in range(len(SLOTS)))
        for number, node in enumerate(NODES)
    }


def new_gpu(seed: int, node: str, index: int, generation: str, *, has_zero: bool) -> Gpu:
    """A GPU for a slot, with a UUID and a serial of its own."""
    chance = rng(seed, "gpu", node, index, generation)
    digits = f"{chance.getrandbits(128):032x}"
    uuid = f"GPU-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    serial = f"{'03' if has_zero else '16'}{chance.randrange(10**11):011}"
    return Gpu(node, index, SLOTS[index], uuid, serial)
