"""The lines of an ordinary day: what shows that a node was up and logged, and traps for a careless reader."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from bathtub.simulate.cluster import ENDED_AT, STARTED_AT, Gpu, clock
from bathtub.simulate.jobs import Attempt
from bathtub.simulate.kernel import KERNEL, Line
from bathtub.simulate.plan import SILENT, SILENT_NODE

DRIVER = "570.133.20"
QUIET_S = (300, 2700)

OWN, NONE = -1, 0
"""A process number of its own for each line, and none at all."""

# weight, emitter, process number, message
ORDINARY: tuple[tuple[int, str, int, str], ...] = (
    (10, "systemd", 1, "Started Session {small} of user ops."),
    (4, "systemd", 1, "Starting Daily Cleanup of Temporary Directories..."),
    (6, "systemd", 1, "dnf-makecache.service: Deactivated successfully."),
    (8, "sshd", OWN, "Accepted publickey for ops from 10.20.0.{small} port 5{large:04} ssh2: ED25519 SHA256:{digest}"),
    (8, "sshd", OWN, "pam_unix(sshd:session): session closed for user ops"),
    (12, "CROND", OWN, "(root) CMD (/usr/lib64/sa/sa1 1 1)"),
    (4, "chronyd", 1107, "Selected source 10.20.0.1"),
    (4, "slurmd", 2204, "debug:  Log file re-opened"),
    (6, KERNEL, NONE, "nvidia-nvswitch{tiny}: open (major=510)"),
    (3, KERNEL, NONE, "perf: interrupt took too long ({large} > 2500), lowering kernel.perf_event_max_sample_rate to 79000"),
    (1, "ops", OWN, "ticket 4711: who else saw NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus. last year?"),
)

WATCH = "scan of the kernel log: no new 'NVRM: Xid' in the last hour"
"""An hourly job of the site. It holds a fault's words and is none; it also shows on every day that a node was logged."""

BOOT: tuple[tuple[str, int, str], ...] = (
    (KERNEL, NONE, "Linux version 5.14.0-503.14.1.el9_5.x86_64 (gcc (GCC) 11.5.0) #1 SMP PREEMPT_DYNAMIC"),
    (KERNEL, NONE, "Command line: BOOT_IMAGE=/vmlinuz-5.14.0-503.14.1.el9_5.x86_64 ro quiet"),
    (KERNEL, NONE, "nvidia: loading out-of-tree module taints kernel."),
    (KERNEL, NONE, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  " + DRIVER + "  Sun Mar  9 06:11:29 UTC 2025"),
    (KERNEL, NONE, "nvidia-uvm: Loaded the UVM driver, major device number 508."),
    ("systemd", 1, "Started NVIDIA Persistence Daemon."),
    ("slurmd", 2204, "slurmd version 24.05.4 started"),
)


def ordinary(node: str, chance: random.Random) -> Iterator[Line]:
    """A line every five to forty-five minutes for the whole time, and the hourly scan."""
    hour = STARTED_AT + timedelta(seconds=chance.randrange(3600))
    while hour < ENDED_AT:
        yield Line(hour, 0, node, "xidwatch", WATCH, chance.randrange(900, 60_000))
        hour += timedelta(hours=1)
    weights = [weight for weight, *_ in ORDINARY]
    seen_at = STARTED_AT + timedelta(seconds=chance.randrange(*QUIET_S))
    while seen_at < ENDED_AT:
        _, emitter, pid, text = chance.choices(ORDINARY, weights)[0]
        yield Line(seen_at, 0, node, emitter, _filled(text, chance), chance.randrange(900, 60_000) if pid == OWN else pid or None)
        seen_at += timedelta(seconds=chance.randrange(*QUIET_S), microseconds=chance.randrange(1_000_000))


def _filled(text: str, chance: random.Random) -> str:
    return text.format(
        small=chance.randrange(2, 250),
        tiny=chance.randrange(4),
        large=chance.randrange(2501, 9999),
        digest=f"{chance.getrandbits(172):043x}",
    )


def boot(node: str, cards: tuple[Gpu, ...], since: datetime) -> Iterator[Line]:
    """What a node prints as it starts."""
    for number, (emitter, pid, text) in enumerate(BOOT):
        yield Line(since + timedelta(seconds=3 * number), number, node, emitter, text, pid or None)
    for card in cards:
        text = f"device {card.pci_bdf}.0 - registered"
        yield Line(since + timedelta(seconds=30), card.index, node, "nvidia-persistenced", text, 2711)


def jobs(attempts: list[Attempt]) -> Iterator[Line]:
    """What slurmd says of the jobs on its node."""
    for attempt in attempts:
        for node in attempt.nodes:
            started_at = attempt.started_at or attempt.ended_at
            yield Line(
                started_at, 0, node, "slurmd", f"launch task StepId={attempt.job_id}.0 request from UID:5000 GID:5000", 2204
            )
            yield Line(attempt.ended_at, 0, node, "slurmd", f"debug:  JobId={attempt.job_id}: sent epilog complete msg", 2204)


def is_collected(line: Line) -> bool:
    """Whether the line is in what was collected: inside the two weeks, and not in the days that a node misses."""
    since, until = (clock(day, hhmm) for day, hhmm in SILENT)
    is_missing = line.node == SILENT_NODE and since <= line.seen_at < until
    return STARTED_AT <= line.seen_at < ENDED_AT and not is_missing
