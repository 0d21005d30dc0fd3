"""What the kernel prints: a script of lines for each planted kind of fault."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bathtub.simulate.cluster import Gpu
from bathtub.simulate.jobs import Incident

KERNEL = "kernel"


@dataclass(frozen=True, order=True)
class Line:
    """One log line before its envelope. `number` keeps the order of lines of one moment."""

    seen_at: datetime
    number: int
    node: str
    emitter: str
    text: str
    pid: int | None = None


@dataclass(frozen=True, kw_only=True)
class Say:
    """One kind of line in a script: `times` lines from `after_s` on, `gap_s` (from, to) seconds apart.

    With `xid` it is a fault line of the GPUs `on` which it is said; without, the text stands by itself. `process`
    says whom the driver names.
    """

    text: str
    xid: int | None = None
    after_s: float = 0.0
    times: int = 1
    gap_s: tuple[float, float] = (0.001, 0.002)
    on: Literal["device", "peers", "all"] = "device"
    process: Literal["program", "unknown", "none"] = "program"


_CHANNEL = "Ch {channel:08x}"
_GONE = "GPU has fallen off the bus."
_RECOVERY = "GPU recovery action changed from 0x0 (None) to {action}"
_RESET = _RECOVERY.format(action="0x1 (GPU Reset Required)")
_REBOOT = _RECOVERY.format(action="0x2 (Node Reboot Required)")
_DBE = "An uncorrectable double bit error (DBE) has been detected on GPU in the "
_REMAPPED = "Row Remapper: New row (0x{wide:016x}) marked for remapping, reset gpu to activate."
_NAMES = (
    Say(text="NVRM: GPU at PCI:{bdf}: {uuid}"),
    Say(text="NVRM: GPU Board Serial Number: {serial}"),
)

SCRIPTS: dict[str, tuple[Say, ...]] = {
    "hbm_contained": (
        Say(xid=48, text=_DBE + "framebuffer at physAddr 0x{wide:x} partition {small}, subpartition 1."),
        Say(xid=63, text=_REMAPPED, after_s=0.4),
        Say(xid=94, text="Contained: CE User Channel (0x9). RST: No, D-RST: No", after_s=0.9),
        Say(xid=45, text=_CHANNEL, after_s=1.5, times=24, gap_s=(0.01, 0.2), on="all"),
        Say(xid=154, text=_RESET, after_s=7.0, process="none"),
    ),
    "hbm_storm": (
        Say(xid=95, text="Uncontained: FBHUB. RST: Yes, D-RST: No", times=2000, gap_s=(0.05, 0.42), process="unknown"),
        Say(xid=63, text=_REMAPPED, after_s=0.7, process="unknown"),
    ),
    "sram": (
        Say(xid=48, text=_DBE + "L2 SRAM of partition {small}, slice 3."),
        Say(xid=172, text="L2, Uncorrectable SRAM error", after_s=0.3, process="none"),
        Say(xid=45, text=_CHANNEL, after_s=1.1, times=6, gap_s=(0.01, 0.1), on="all"),
    ),
    "off_the_bus": (
        Say(xid=79, text=_GONE, process="unknown"),
        Say(text="NVRM: GPU {bdf}.0: " + _GONE, after_s=0.01),
        Say(text="NVRM: A GPU crash dump has been created. If possible, please run", after_s=0.02),
        Say(text="NVRM: nvidia-bug-report.sh as root to collect this data before", after_s=0.021),
        Say(text="NVRM: the NVIDIA kernel module is unloaded.", after_s=0.022),
        Say(xid=45, text=_CHANNEL, after_s=2.0, times=3, gap_s=(0.1, 0.4), on="peers"),
        Say(xid=154, text=_REBOOT, after_s=6.0, process="none"),
    ),
    "gsp": (
        Say(
            xid=119,
            text="Timeout after 6s of waiting for RPC response from GPU{index} GSP! "
            "Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x4).",
            times=14,
            gap_s=(6.0, 40.0),
        ),
        Say(text="NVRM: GPU{index} GSP RPC buffer contains function 76 (GSP_RM_CONTROL) and data 0x20802a02 0x4.", after_s=0.02),
        Say(text="NVRM: GPU{index} RPC history (CPU -> GSP):", after_s=0.03),
        Say(text="NVRM:     entry function                   data0              data1", after_s=0.04),
        Say(text="NVRM:      0    76   GSP_RM_CONTROL     0x0000000020802a02 0x0000000000000004", after_s=0.05),
        Say(text="NVRM: Rate limiting GSP RPC error prints for GPU at PCI:{bdf}", after_s=4.0),
    ),
    "nvlink": (
        Say(
            xid=74,
            text="NVLink: fatal error detected on link {small}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
            process="unknown",
        ),
        Say(xid=45, text=_CHANNEL, after_s=3.0, times=4, gap_s=(0.05, 0.3), on="all"),
    ),
    "page_fault": (
        Say(
            xid=31,
            text="Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_{small} faulted @ 0x7f3a_{channel:08x}. "
            "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
        ),
        Say(xid=43, text="Ch 00000010", after_s=0.8),
        Say(xid=45, text="Ch 00000011", after_s=1.6),
    ),
    "exception": (
        Say(
            xid=13,
            text="Graphics SM Warp Exception on (GPC {small}, TPC {number}, SM 1): Out Of Range Address",
            times=8,
            gap_s=(0.01, 0.05),
        ),
        Say(
            xid=13,
            text="Graphics Exception: ESR 0x{channel:x}=0x{small:x}0f0009 0x{channel:x}=0x24 "
            "0x{channel:x}=0xc12b60 0x{channel:x}=0x1174",
            after_s=0.006,
            times=8,
            gap_s=(0.01, 0.05),
        ),
        Say(xid=43, text="Ch 00000012", after_s=1.9),
    ),
    "reboot_noise": (
        Say(xid=79, text=_GONE, process="unknown", on="all"),
        Say(xid=154, text=_REBOOT, after_s=1.5, process="none", on="all"),
    ),
    "row_remap": (Say(xid=63, text=_REMAPPED, process="unknown"),),
    "program_killed": (Say(xid=45, text=_CHANNEL, times=2, gap_s=(0.02, 0.1), on="all"),),
    "job_memory": (
        Say(
            text="oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_batch,mems_allowed=0-1,"
            "oom_memcg=/system.slice/slurmstepd.scope/job,task_memcg=/system.slice/slurmstepd.scope/job/step_batch,task=python3,pid=81{index}201,uid=5002"
        ),
        Say(
            text="Memory cgroup out of memory: Killed process 81{index}201 (python3) total-vm:2011423612kB",
            after_s=0.2,
        ),
        Say(text="oom_reaper: reaped process 81{index}201 (python3), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB", after_s=0.9),
    ),
    "new_code": (
        Say(xid=500, text="Engine event 0x1f4, status 0x{channel:x}", process="unknown"),
        Say(xid=45, text=_CHANNEL, after_s=20.0, times=2, gap_s=(0.02, 0.1)),
    ),
    "pmu_halt": (Say(xid=62, text="{channel:08x}(2df0) 00000000 00000000", process="unknown"),),
}


def lines(incident: Incident, cards: tuple[Gpu, ...], chance: random.Random) -> list[Line]:
    """The kernel lines of one planted incident, in order. `cards` are the GPUs of its node then."""
    if incident.row.script is None:
        return []
    program = f"pid={chance.randrange(20_000, 900_000)}, name={chance.choice(('python3', 'pt_main_thread', 'train,v2'))}, "
    named = {"program": program, "unknown": "pid='<unknown>', name=<unknown>, ", "none": ""}
    said: list[tuple[datetime, str]] = []
    script = SCRIPTS[incident.row.script]
    for say in (*_NAMES, *script) if any(say.xid for say in script) else script:
        for card in _cards(say, incident.device, cards):
            prefix = "" if say.xid is None else f"NVRM: Xid (PCI:{card.pci_bdf}): {say.xid}, {named[say.process]}"
            said += [(seen_at, prefix + text) for seen_at, text in _said(say, card, incident.started_at, chance)]
    said.sort(key=lambda line: line[0])
    return [Line(seen_at, number, incident.node, KERNEL, text) for number, (seen_at, text) in enumerate(said)]


def _cards(say: Say, device: int, cards: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPUs that a line is said of, the faulty one first."""
    peers = tuple(card for card in cards if card.index != device)
    return {"device": (cards[device],), "peers": peers, "all": (cards[device], *peers)}[say.on]


def _said(say: Say, card: Gpu, started_at: datetime, chance: random.Random) -> Iterator[tuple[datetime, str]]:
    seen_at = started_at + timedelta(seconds=say.after_s)
    for number in range(say.times):
        text = say.text.format(
            bdf=card.pci_bdf,
            uuid=card.uuid,
            serial=card.serial,
            index=card.index,
            number=number,
            small=chance.randrange(1, 8),
            channel=chance.getrandbits(24),
            wide=chance.getrandbits(34),
        )
        yield seen_at, text
        seen_at += timedelta(microseconds=int(1e6 * chance.uniform(*say.gap_s)))
