"""A small inbox of our own: what the tests of the whole chain feed to `nightly`."""

import gzip
import os
from datetime import UTC, date, datetime
from pathlib import Path

from bathtub.config import Config, Flags, load
from bathtub.nightly import Result, Window, nightly

COLLECTED = datetime(2026, 4, 2, tzinfo=UTC).timestamp()
SACCT = """JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|State|ExitCode|NNodes|NodeList|AllocTRES
100|100|2026-04-01T08:00:00|2026-04-01T08:00:10|2026-04-01T09:30:30|5420|FAILED|134:0|2|n[01-02]|cpu=8,gres/gpu=16,node=2
101|101|2026-04-01T10:00:00|2026-04-01T10:00:05|2026-04-01T11:00:05|3600|COMPLETED|0:0|1|n02|cpu=4,gres/gpu=8,node=1
102|102|2026-04-01T12:00:00|2026-04-01T12:00:05|2026-04-01T12:10:05|600|FAILED|1:0|1|n02|cpu=4,gres/gpu=8,node=1
"""
DOUBLE_BIT = (
    "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"
    " at physAddr 0x1f00 partition 2, subpartition 0."
)
REMAP = "Row Remapper: New row (0x1f00) marked for remapping, reset gpu to activate."
MESSAGES = f"""Apr  1 00:00:01 n01 systemd[1]: Started Session 1 of user root.
Apr  1 09:30:00 n01 kernel: NVRM: Xid (PCI:0000:3b:00): 48, pid=77, name=train, {DOUBLE_BIT}
Apr  1 09:30:01 n01 kernel: NVRM: Xid (PCI:0000:3b:00): 63, pid=77, name=train, {REMAP}
Apr  1 23:59:58 n01 systemd[1]: Stopped Session 1 of user root.
"""
JOURNAL = """2026-04-01T00:00:03+0000 n02 systemd[1]: Started Session 4 of user root.
2026-04-01T23:59:03+0000 n02 systemd[1]: Stopped Session 4 of user root.
"""
INVENTORY = """node,device_class,pci_bdf,device_serial,rack,in_service_at
n01,gpu,0000:3b:00,0012345678901,r1,2026-01-01T00:00:00Z
n02,gpu,0000:3b:00,0012345678902,r1,2026-01-01T00:00:00Z
"""
FILES = {
    "scheduler/sacct.txt": SACCT,
    "nodes/n01/messages": MESSAGES,
    "nodes/n02/journal.log": JOURNAL,
    "plant/inventory.csv": INVENTORY,
}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """The files below a folder, with a fixed time of collection."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") and isinstance(content, str) else raw)
        os.utime(path, (COLLECTED, COLLECTED))
    return folder


DAY = Window.of("UTC", None, date(2026, 4, 1), date(2026, 4, 1))


def run(base: Path, config: Config | None = None, window: Window = DAY) -> Result:
    """One nightly run over base/inbox, for the civil day 2026-04-01 UTC unless another window is given."""
    config = config or load(None, Flags(tz="UTC", cluster="c1"))
    return nightly(base / "inbox", base / "lake", base / "out", config, window)


def csvs(out: Path) -> dict[str, bytes]:
    """The reports that must be equal byte for byte."""
    return {
        path.name: path.read_bytes() for path in sorted(out.iterdir()) if path.suffix == ".csv" or path.name == "manifest.json"
    }
