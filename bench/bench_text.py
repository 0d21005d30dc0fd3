"""Kernel lines out of mixed syslog and journald JSON into the lake, beside the passes that cannot be avoided.

    python bench/bench_text.py [MiB] [rounds]      default 1024 and 5

The limit of plain text is the sum of a search for the same literals (`rg -c`, else `grep -c`), `wc -l` and a BLAKE3 pass;
of compressed text a decompression to nowhere besides (`igzip -dc`, else the same library; `zstd -dc`). Each is a whole
process; all run once per round, in turn, and the order rotates. Printed: medians of wall and CPU, their ratio within
each round (least and most), and the peak memory. The kept records are counted each time.
"""

import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bathtub.ingest._messages import grammars

SEED = 20260301
PIECE = 16 << 20
ONE_IN = 2000
FAULTS = (
    "NVRM: Xid (PCI:0000:3b:00): {n}, pid=4242, name=python3, Ch 00000008",
    "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link {n} egress non-posted PRIV error (First)",
    "mlx5_core 0000:5e:00.0 ens1f0np0: Link down",
    "pcieport 0000:00:01.0: AER: Corrected error received: 0000:3b:00.0",
)
OTHERS = (
    ("systemd", "Started Session {n} of user root."),
    ("kernel", 'audit: type=1400 audit(17.{n}): apparmor="ALLOWED" operation="open" profile="snap.lxd"'),
    ("sshd", "Accepted publickey for user from 10.1.2.3 port {n} ssh2: ED25519 SHA256:abcdefghijklmnopqrstuvwxyz"),
    ("containerd", 'time="2026-03-01T00:00:00Z" level=info msg="shim disconnected" id={n} namespace=k8s.io'),
    ("CRON", "(root) CMD (cd / && run-parts --report /etc/cron.hourly {n})"),
)
OURS = """
import sys
from pathlib import Path
from bathtub.intake import Intake, discover, take
from bathtub.config import Cluster, Config
from bathtub.lake import Change, Lake, locked
import polars as pl
from bathtub.schema import table
from bathtub.spool import Spool
inbox, folder = Path(sys.argv[1]).parent, Path(sys.argv[2])
with locked(folder):
    lake = Lake(folder)
    lake.create()
    config = Config(cluster=Cluster(zone="UTC"))
    tasks, _ = Intake(config, pl.DataFrame(schema=table("sources").polars), {}).decide(discover(inbox))
    spools = [Path(folder, "spool", str(number)) for number in range(len(tasks))]
    outcomes = [take(task, spool) for task, spool in zip(tasks, spools)]
    rows = pl.DataFrame([each.row for each in outcomes], schema=table("sources").polars)
    lake.commit(Change([Spool(each) for each in spools], rows, rows.clear()), "bench")
print(sum(each.row["n_kept"] for each in outcomes))
"""
BLAKE3 = """
import sys
from blake3 import blake3
hasher = blake3()
with open(sys.argv[1], "rb") as file:
    while chunk := file.read(1 << 20):
        hasher.update(chunk)
"""
GUNZIP = """
import sys
from isal import igzip
with igzip.open(sys.argv[1], "rb") as file:
    while file.read(1 << 20):
        pass
"""


def piece(*, is_json: bool) -> tuple[bytes, int]:
    """About 16 MiB of lines and how many of them are faults."""
    chance, lines, size, n_faults = random.Random(SEED), [], 0, 0
    while size < PIECE:
        number, second = chance.randrange(1, 170), len(lines) % 86400
        is_fault = chance.randrange(ONE_IN) == 0
        tag, text = ("kernel", chance.choice(FAULTS)) if is_fault else chance.choice(OTHERS)
        text, host = text.replace("{n}", str(number)), f"gpu-a{chance.randrange(64):02}"
        if is_json:
            escaped, transport = text.replace('"', '\\"'), "kernel" if tag == "kernel" else "syslog"
            line = (
                f'{{"__CURSOR":"s=4bc;i={len(lines):x}","__REALTIME_TIMESTAMP":"{1772323200000000 + second * 1000000}",'
                f'"_BOOT_ID":"4bc0","_HOSTNAME":"{host}","_TRANSPORT":"{transport}","SYSLOG_IDENTIFIER":"{tag}","PRIORITY":"6",'
                f'"_MACHINE_ID":"0123456789abcdef0123456789abcdef","MESSAGE":"{escaped}"}}\n'
            )
        else:
            line = f"Mar  1 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} {host} {tag}: {text}\n"
        lines.append(line)
        size, n_faults = size + len(line), n_faults + is_fault
    return "".join(lines).encode(), n_faults


def write(base: Path, kind: str, mib: int) -> tuple[Path, int]:
    """A file of that kind and expanded size; the number of its faults."""
    path = base / kind / "inbox" / {"plain": "messages", "gz": "messages.gz", "zst": "messages.zst", "json": "journal.json"}[kind]
    path.parent.mkdir(parents=True)
    content, n_faults = piece(is_json=kind == "json")
    n = max(1, (mib << 20) // len(content))
    with gzip.open(path, "wb", compresslevel=6) if kind == "gz" else path.open("wb") as file:
        for _ in range(n):
            file.write(content)
    if kind == "zst":
        subprocess.run(["zstd", "-q", "--rm", "-f", str(path), "-o", f"{path}.made"], check=True)
        Path(f"{path}.made").rename(path)
    return path, n * n_faults


def passes(path: Path, plain: Path, kind: str) -> list[list[str]]:
    """The commands whose sum is the limit."""
    literals = sorted({literal.decode() for grammar in grammars() for literal in grammar.literals})
    words = [word for literal in literals for word in ("-e", literal)]
    search = ["rg", "-c", "-F", *words] if shutil.which("rg") else ["grep", "-c", "-F", *words]
    same = [[*search, str(plain)], ["wc", "-l", str(plain)], [sys.executable, "-c", BLAKE3, str(plain)]]
    igzip = ["igzip", "-dc", str(path)] if shutil.which("igzip") else [sys.executable, "-c", GUNZIP, str(path)]
    return [*same, *{"gz": [igzip], "zst": [["zstd", "-dc", str(path)]]}.get(kind, [])]


def run(command: list[str]) -> tuple[float, float, float, bytes]:
    """Wall and CPU seconds, peak MiB and output of one process."""
    begun = time.perf_counter()
    is_short = OURS in command or "-c" in command  # grep that writes to nowhere ends at its first match
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE if is_short else subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}
    )
    told = child.stdout.read() if child.stdout else b""
    _, status, used = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), command[:2]
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, told


def measure(base: Path, kind: str, plain: Path, rounds: int, made: tuple[Path, int]) -> None:
    """One line: bathtub beside the limit."""
    path, n_faults = made
    found: list[tuple[float, ...]] = []
    for number in range(rounds):
        folder = tempfile.mkdtemp(prefix="lake-", dir=base)
        jobs = [[sys.executable, "-c", OURS, str(path), folder], *passes(path, path if kind == "json" else plain, kind)]
        order = list(range(len(jobs)))
        took = {at: run(jobs[at]) for at in order[number % len(jobs) :] + order[: number % len(jobs)]}
        assert int(took[0][3]) == n_faults, (took[0][3], n_faults)
        limits = [sum(each[at] for job, each in took.items() if job) for at in (0, 1)]
        found.append((took[0][0], limits[0], took[0][1], limits[1], took[0][2]))
        shutil.rmtree(folder)
    for at, unit in ((0, "wall"), (2, "CPU")):
        ratios = [each[at] / each[at + 1] for each in found]
        ours, limit = (median(each[column] for each in found) for column in (at, at + 1))
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{kind:5} {unit:4} bathtub {ours:7.1f} s, passes {limit:7.1f} s, ratio {spread}")
    print(f"{kind:5} peak {max(each[4] for each in found):.0f} MiB", flush=True)


def main(mib: int = 1024, rounds: int = 5) -> None:
    base = Path(tempfile.mkdtemp(prefix="bathtub-bench-"))
    try:
        search = "rg" if shutil.which("rg") else "grep (rg is not here)"
        print(f"{mib} MiB, {rounds} rounds, warm page cache, search by {search}")
        plain = write(base, "plain", mib)
        for kind in ("plain", "gz", "zst", "json"):
            if kind == "zst" and not shutil.which("zstd"):
                print("zst   left out: zstd is not here")
                continue
            measure(base, kind, plain[0], rounds, plain if kind == "plain" else write(base, kind, mib))
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
