"""The lines of an ordinary day and of a boot: what shows that a node was logged, and traps for careless readers."""

from collections.abc import Iterator

import numpy as np

from bathtub.simulate.full.lines import Line
from bathtub.simulate.full.settings import DAY_S, Settings, midnight
from bathtub.simulate.full.topology import DRIVERS, Node

P_LOST_DAY = 0.03

# weight, emitter, process number, message
HEALTHY: tuple[tuple[int, str, int, str], ...] = (
    (10, "systemd", 1, "Started Session {small} of user ops."),
    (6, "systemd", 1, "dnf-makecache.service: Deactivated successfully."),
    (4, "systemd", 1, "Starting system activity accounting tool..."),
    (8, "sshd", 4411, "Accepted publickey for ops from 10.20.0.{small} port 5{large:04} ssh2: ED25519 SHA256:{digest:043x}"),
    (8, "sshd", 4411, "pam_unix(sshd:session): session closed for user ops"),
    (12, "CROND", 9112, "(root) CMD (/usr/lib64/sa/sa1 1 1)"),
    (4, "chronyd", 1107, "Selected source 10.20.0.1"),
    (4, "slurmd", 2204, "debug:  Log file re-opened"),
    (6, "kernel", 0, "nvidia-nvswitch{tiny}: open (major=510)"),
    (3, "kernel", 0, "perf: interrupt took too long ({large} > 2500), lowering kernel.perf_event_max_sample_rate to 79000"),
    (3, "kernel", 0, "TCP: request_sock_TCP: Possible SYN flooding on port 48211. Sending cookies."),
    (2, "kernel", 0, "mlx5_core 0000:19:00.0: mlx5_cmd_out_err:838:(pid {large}): ACCESS_REG(0x805) op_mod(0x1) failed"),
    (2, "xidwatch", 812, "scan of the kernel log: no new 'NVRM: Xid' in the last hour"),
    (1, "ops", 9021, "ticket {large}: who else saw NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus. last year?"),
)  # fmt: skip
_WEIGHTS = np.array([weight for weight, *_ in HEALTHY], dtype=float) / sum(weight for weight, *_ in HEALTHY)

BOOT: tuple[tuple[str, int, str], ...] = (
    ("kernel", 0, "Linux version 5.14.0-503.14.1.el9_5.x86_64 (build@host) (gcc (GCC) 11.5.0) #1 SMP PREEMPT_DYNAMIC"),
    ("kernel", 0, "Command line: BOOT_IMAGE=/vmlinuz-5.14.0-503.14.1.el9_5.x86_64 ro quiet"),
    ("kernel", 0, "EDAC MC: Ver: 3.0.0"),
    ("kernel", 0, "mlx5_core 0000:19:00.0 mlx5_0: Port: 1 Link INIT"),
    ("kernel", 0, "nvidia: loading out-of-tree module taints kernel."),
    ("kernel", 0, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {driver}  Sun Mar  9 06:11:29 UTC 2025"),
    ("systemd", 1, "Started NVIDIA Persistence Daemon."),
    ("slurmd", 2204, "slurmd version 24.05.4 started"),
)


def healthy(settings: Settings, node: Node, day: int) -> Iterator[Line]:
    """The lines of one civil day, in order of time; at least one every six hours, so that the day is seen to be logged."""
    since_s, until_s = midnight(day), midnight(day + 1)
    if not settings.has_noise:
        yield from (Line(since_s + DAY_S * (part + 0.5) / 4, "CROND", 9112, HEALTHY[5][3]) for part in range(4))
        return
    chance = settings.rng("ordinary", node.index, day)
    times = np.sort(chance.uniform(since_s, until_s, size=max(4, int(chance.poisson(settings.lines_per_day)))))
    kinds = chance.choice(len(HEALTHY), size=len(times), p=_WEIGHTS)
    smalls, larges = chance.integers(2, 250, size=len(times)), chance.integers(2501, 9999, size=len(times))
    digest = int.from_bytes(chance.bytes(20), "big")
    for at_s, kind, small, large in zip(times.tolist(), kinds.tolist(), smalls.tolist(), larges.tolist(), strict=True):
        _, emitter, pid, text = HEALTHY[kind]
        yield Line(at_s, emitter, pid, text.format(small=small, large=large, tiny=small % 4, digest=digest + large))


def lost_day(settings: Settings, node: Node) -> int | None:
    """The day whose log of a node was never collected; for most nodes there is none."""
    chance = settings.rng("files", node.index)
    is_lost = settings.has_noise and chance.random() < P_LOST_DAY
    return int(chance.integers(1, settings.n_days)) if is_lost else None


def boot(node: Node, at_s: float) -> Iterator[Line]:
    """What a node prints as it starts."""
    driver = DRIVERS[node.rack % len(DRIVERS)]
    for number, (emitter, pid, text) in enumerate(BOOT):
        yield Line(at_s + 3 * number, emitter, pid, text.format(driver=driver))
