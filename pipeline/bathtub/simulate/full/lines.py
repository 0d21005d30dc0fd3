"""Planted incidents as log lines, before any wrapper."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bathtub.simulate.full.devices import Parts
from bathtub.simulate.full.events import Event
from bathtub.simulate.full.gpu_scripts import Say
from bathtub.simulate.full.host_scripts import SCRIPTS
from bathtub.simulate.full.settings import GPUS_PER_NODE, Settings
from bathtub.simulate.full.topology import DRIVERS, NICS, SLOTS, SWITCHES

PORTS = (
    "0000:17:01.0",
    "0000:29:01.0",
    "0000:39:01.0",
    "0000:5c:01.0",
    "0000:99:01.0",
    "0000:aa:01.0",
    "0000:b9:01.0",
    "0000:da:01.0",
)
PROGRAMS = ("python3", "pt_main_thread", "train,v2", "ray::Worker")
DERIVED = 45
"""The code of programs that go down with their GPU or their job."""

P_NOISY = 0.6
"""The share of nodes that raise noise in a planned reboot."""


class Line(NamedTuple):
    """One log line of a node: seconds after the start, emitter, process number, text."""

    at_s: float
    emitter: str
    pid: int
    text: str


def is_noisy(settings: Settings, event: Event, node: int) -> bool:
    """Whether a node prints anything of an incident."""
    return not event.kind.is_planned or float(settings.rng("lines", event.number, node, 1).random()) < P_NOISY


def planted(settings: Settings, parts: Parts, event: Event, node: int) -> list[Line]:
    """What an incident prints on one of its nodes, in order of time."""
    if not event.kind.script or event.is_silent or not is_noisy(settings, event, node):
        return []
    chance = settings.rng("lines", event.number, node)
    script = SCRIPTS[event.kind.script]
    names = _names(chance, event)
    # What all nodes of an incident name alike, such as the file server, is drawn once.
    program = f"pid={names['pid']}, name={PROGRAMS[int(chance.integers(len(PROGRAMS)))]}, "
    named = {"program": program, "unknown": "pid='<unknown>', name=<unknown>, ", "none": ""}
    found = list(_identity(parts, event, node)) if any(say.xid for say in script) else []
    caused = _caused(script, parts.fleet.nodes[node].rack)
    delay = float(chance.uniform(0, 8)) if len(event.nodes) > 1 else 0.0
    for say in script:
        if say.share < 1 and chance.random() >= say.share:
            continue
        for slot in _slots(say, event.device):
            prefix = "" if say.xid is None else f"NVRM: Xid (PCI:{SLOTS[slot]}): {say.xid}, {named[say.process]}"
            suffix = caused if say.xid == DERIVED else ""
            found += _said(replace(say, text=say.text + suffix), prefix, slot, event.at_s + delay, names, chance)
    return sorted(found, key=lambda line: line.at_s)


def _caused(script: tuple[Say, ...], rack: int) -> str:
    """What drivers from R575 on put behind the programs' 45: the code that came first."""
    first = next((say.xid for say in script if say.xid is not None), DERIVED)
    is_new = int(DRIVERS[rack % len(DRIVERS)].split(".")[0]) >= 575  # noqa: PLR2004 - see above
    return f" caused by previous Xid {first}" if is_new and first != DERIVED else ""


def _slots(say: Say, device: int) -> tuple[int, ...]:
    """The GPUs that a line is said of, the faulty one first."""
    peers = tuple(slot for slot in range(GPUS_PER_NODE) if slot != device)
    return {"device": (device,), "peers": peers, "all": (device, *peers), "next": (peers[0],)}[say.on]


def _names(chance: np.random.Generator, event: Event) -> dict[str, object]:
    """What an incident's lines name alike."""
    return {
        "tiny": int(chance.integers(1, 4)), "link": int(chance.integers(4, 36)), "cpu": int(chance.integers(2, 96)),
        "secs": int(chance.integers(22, 180)), "pid": int(chance.integers(20_000, 900_000)),
        "wide": int(chance.integers(1 << 34)),
        "switch": SWITCHES[int(chance.integers(len(SWITCHES)))], "nic": NICS[event.device], "hca": f"mlx5_{event.device}",
    }  # fmt: skip


def _identity(parts: Parts, event: Event, node: int) -> Iterator[Line]:
    """Which GPU it is, as the driver says in front of a fault."""
    part = parts.part("gpu", node, event.device, event.at_s)
    yield Line(event.at_s - 0.002, "kernel", 0, f"NVRM: GPU at PCI:{SLOTS[event.device]}: {part.uuid}")
    yield Line(event.at_s - 0.001, "kernel", 0, f"NVRM: GPU Board Serial Number: {part.serial}")


def _said(say: Say, prefix: str, slot: int, at_s: float, names: dict[str, object], chance: np.random.Generator) -> Iterator[Line]:
    seen_s, channel = at_s + say.after_s, int(chance.integers(1 << 24))
    gaps = chance.uniform(*say.gap_s, size=say.times)
    for number in range(say.times):
        text = say.text.format(bdf=SLOTS[slot], port=PORTS[slot], index=slot, number=number, channel=channel, **names)
        yield Line(seen_s, say.emitter, 0 if say.emitter == "kernel" else 1204, prefix + text)
        seen_s += float(gaps[number])
