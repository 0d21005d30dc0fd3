"""The lines of an ordinary day: what shows that a node was up and logged, and traps for a careless reader."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from bathtub.simulate.cluster import ENDED_AT, STARTED_AT, Gpu, clock
from bathtub.simulate.jobs import Attempt
from bathtub.simulate.kernel import KERNEL, Line

DRIVER = "570.133.20"
QUIET_S = (300, 2700)

# emitter, whether it prints a process number, message
ORDINARY: tuple[tuple[str, bool, str], ...] = (
    ("systemd", True, "Started Session {small} of user ops."),
    ("systemd", True, "Starting Daily Cleanup of Temporary Directories..."),
    ("systemd", True, "dnf-makecache.service: Deactivated successfully."),
    ("sshd", True, "Accepted publickey for ops from 10.20.0.{small} port 5{large:04} ssh2: ED25519 SHA256:{digest}"),
    ("sshd", True, "pam_unix(sshd:session): session closed for user ops"),
    ("CROND", True, "(root) CMD (/usr/lib64/sa/sa1 1 1)"),
    ("chronyd", True, "Selected source 10.20.0.1"),
    ("slurmd", True, "debug:  Log file re-opened"),
    ("nvidia-persistenced", True, "device 0000:18:00.0 - persistence mode enabled."),
    (KERNEL, False, "nvidia-nvswitch{tiny}: open (major=510)"),
    (KERNEL, False, "perf: interrupt took too long ({large} > 2500), lowering kernel.perf_event_max_sample_rate to 79000"),
    (KERNEL, False, "NVRM: nvidia_uvm: registered {tiny} clients of " + DRIVER),
    ("ops", True, "ticket 4711: who else saw NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus. last year?"),
)

BOOT: tuple[tuple[str, bool, str], ...] = (
    (KERNEL, False, "Linux version 5.14.0-503.14.1.el9_5.x86_64 (gcc (GCC) 11.5.0) #1 SMP PREEMPT_DYNAMIC"),
    (KERNEL, False, "Command line: BOOT_IMAGE=/vmlinuz-5.14.0-503.14.1.el9_5.x86_64 ro quiet"),
    (KERNEL, False, "nvidia: loading out-of-tree module taints kernel."),
    (KERNEL, False, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  " + DRIVER + "  Sun Mar  9 06:11:29 UTC 2025"),
    ("systemd", True, "Started NVIDIA Persistence Daemon."),
    ("slurmd", True, "slurmd version 24.05.4 started"),
)


def ordinary(node: str, chance: random.Random) -> Iterator[Line]:
    """A line every five to forty-five minutes for the whole time."""
    seen_at = STARTED_AT + timedelta(seconds=chance.randrange(*QUIET_S))
    while seen_at < ENDED_AT:
        emitter, has_pid, text = chance.choice(ORDINARY)
        filled = text.format(
            small=chance.randrange(2, 250),
            tiny=chance.randrange(4),
            large=chance.randrange(2501, 9999),
            digest=f"{chance.getrandbits(172):043x}",
        )
        yield Line(seen_at, 0, node, emitter, filled, chance.randrange(900, 60_000) if has_pid else None)
        seen_at += timedelta(seconds=chance.randrange(*QUIET_S), microseconds=chance.randrange(1_000_000))


def boot(node: str, cards: tuple[Gpu, ...], since: datetime) -> Iterator[Line]:
    """What a node prints as it starts."""
    for number, (emitter, has_pid, text) in enumerate(BOOT):
        yield Line(since + timedelta(seconds=3 * number), number, node, emitter, text, 1 + 900 * number if has_pid else None)
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


def is_collected(line: Line, silent_node: str, silent_days: tuple[int, ...]) -> bool:
    """Whether the line is in what was collected: inside the two weeks, and not in the node's missing days."""
    is_missing = line.node == silent_node and any(
        clock(day, "00:00") <= line.seen_at < clock(day + 1, "00:00") for day in silent_days
    )
    return STARTED_AT <= line.seen_at < ENDED_AT and not is_missing
