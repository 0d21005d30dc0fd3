"""The GPU driver's line in the kernel log: `NVRM: Xid`.

    NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 94, pid=4242, name=python3, Contained: L1 (0x0). RST: No, D-RST: No

Written by NVIDIA's kernel driver (open-gpu-kernel-modules, 595.45.04). The code is the digits right after the
first `):` and is never searched for later, since the process name and the text may hold anything. A process name
is a kernel task name of up to 15 bytes that may hold commas and brackets: it is split from the text where the text
begins with a known opening, else at the first comma. Lines can be cut anywhere.

The trace event of the same name carries the line without `NVRM:`. Two messages without a code are code 79, marked as
inferred: a GPU that has fallen off the bus, in one line with its address, and the three lines of a GPU lost at probe,
which come as one record or as three. Not read here: SXid lines, and the map from addresses to UUIDs.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar, Reject
from bathtub.ingest._messages._addresses import MAX_DIGITS, device_key
from bathtub.ingest._messages._nvlink import link_columns
from bathtub.ingest._messages._openings import is_of_another_code
from bathtub.schema import table

# NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Global Exception on (GPC 8, TPC 5, SM 1): …
_XID = re.compile(
    r"(?:NVRM:\s*|(?<![A-Za-z]))Xid\s*\(\s*(?:PCI:)?(?P<bdf>[0-9A-Fa-f:.]+)?"
    r"(?:\s+GPU-I:(?P<gpu_instance>\d+))?(?:\s+GPU-CI:(?P<compute_instance>\d+))?[^)]*\)\s*:\s*(?P<xid>\d*)(?P<rest>.*)",
    re.DOTALL,
)
# NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.
_OFF_THE_BUS = re.compile(
    r"NVRM:\s*GPU\s+(?:at\s+)?(?:PCI:)?(?P<bdf>[0-9A-Fa-f:.]+?):?\s+GPU has fallen off the bus"
    # NVRM: The NVIDIA GPU 0000:18:00.0 / NVRM: (PCI ID: 10de:2901) installed in this system has / NVRM: fallen off ...
    r"|NVRM:\s*The NVIDIA GPU\s+(?P<probed>[0-9A-Fa-f:.]+)[^\n]*(?:\n[^\n]*){0,2}fallen off the bus and is not responding"
)
_PID = re.compile(r",?\s*pid=(?P<pid>'?<unknown>'?|\d+)(?:,\s*|\s+|$)(?:name=(?P<tail>.*))?", re.DOTALL)
_CAUSED_BY = re.compile(r"caused by previous Xid (\d+)")
# GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)
_RECOVERY = re.compile(r"GPU recovery action changed from 0x[0-9A-Fa-f]+ \([^)]*\) to 0x([0-9A-Fa-f]{1,4})\b")
_OPENINGS = re.compile(
    r",\s*(?=(?:Graphics (?:SM|Exception)|[Cc]h(?:annel)? (?:0x)?[0-9A-Fa-f]|An uncorrectable |Row Remapper"
    r"|NVLink: |GPU has fallen|Contained: |Uncontained: |Timeout after |GPU recovery action |GSP-RISCV"
    r"|[A-Z0-9_/]+\s+(?:Fatal|Nonfatal)\b))"
)
TASK_NAME_BYTES = 15
# Graphics SM Warp Exception on (GPC 2, TPC 5, SM 1): Out Of Range Address
_COMPUTE_UNIT = re.compile(r"Graphics SM [A-Za-z ]{1,40} on \((GPC \d{1,3}), (TPC \d{1,3})\b")
GRAPHICS_EXCEPTION = 13
DOUBLE_BIT_ERROR = 48
RECOVERY_SUMMARY = 154


def parse(text: str) -> Mapping[str, object] | Reject | None:
    """The fault columns of one kernel message; Reject(`xid_no_code`) where the code cannot be read."""
    found = _XID.search(text)
    if found is not None:
        return _coded(found)
    lost = _OFF_THE_BUS.search(text)
    pci_bdf = device_key(lost["bdf"] or lost["probed"]) if lost else None
    if pci_bdf is not None:
        return {
            "xid": 79,
            "is_xid_inferred": True,
            "pci_bdf": pci_bdf,
            "text": "GPU has fallen off the bus",
            "flags": [],
        }
    return Reject("xid_no_code") if re.search(r"NVRM:\s*Xid\b", text) else None


def _coded(found: re.Match[str]) -> Mapping[str, object] | Reject:
    if not 0 < len(found["xid"]) < MAX_DIGITS:
        return Reject("xid_no_code")
    process, rest = _process(found["rest"])
    caused_by = _CAUSED_BY.search(rest)
    pci_bdf = device_key(found["bdf"])
    return {
        "xid": int(found["xid"]),
        "is_xid_inferred": False,
        "pci_bdf": pci_bdf,
        "gpu_instance": _number(found["gpu_instance"]),
        "compute_instance": _number(found["compute_instance"]),
        "text": rest.strip(" ,\t\r\n") or None,
        "memory_site": _memory_site(int(found["xid"]), rest),
        "recovery_action": _recovery_action(int(found["xid"]), rest),
        "caused_by_xid": int(caused_by[1]) if caused_by else None,
        "unit": _compute_unit(int(found["xid"]), rest),
        "flags": [
            *([] if pci_bdf else ["bad_device"]),
            *(["text_code_mismatch"] if is_of_another_code(int(found["xid"]), rest.lstrip(" ,\t")) else []),
        ],
        **link_columns(int(found["xid"]), rest),
        **process,
    }


def _memory_site(xid: int, text: str) -> str | None:
    """Which memory a double-bit error (48) names. Of 94 and 95 the text names the consumer, so it tells nothing."""
    if xid != DOUBLE_BIT_ERROR:
        return None
    if re.search(r"framebuffer|DRAM|FBPA|HBM", text):
        return "dram"
    return "sram" if re.search(r"SRAM|\bL[12]\b|\bSM\b", text) else None


def _recovery_action(xid: int, text: str) -> int | None:
    found = _RECOVERY.search(text) if xid == RECOVERY_SUMMARY else None
    return None if found is None else int(found[1], 16)


def _compute_unit(xid: int, text: str) -> str | None:
    """The TPC that an exception of a program (13) names: the same one under other jobs is suspect."""
    found = _COMPUTE_UNIT.search(text) if xid == GRAPHICS_EXCEPTION else None
    return None if found is None else f"{found[1]} {found[2]}"


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _process(rest: str) -> tuple[dict[str, object], str]:
    """The process columns, and what is left of the line behind them."""
    found = _PID.match(rest)
    if found is None:
        return {"pid": None, "process": None}, rest
    pid = int(found["pid"]) if found["pid"].isdigit() and len(found["pid"]) < MAX_DIGITS else None
    if found["tail"] is None:
        return {"pid": pid, "process": None}, rest[found.end() :]
    name, text = _name(found["tail"])
    return {"pid": pid, "process": None if "<unknown>" in name else name}, text


def _name(tail: str) -> tuple[str, str]:
    """The task name, and the text: split at a known opening within a name's length, else at the first comma."""
    opening = _OPENINGS.search(tail)
    if opening is not None and len(tail[: opening.start()].encode()) <= TASK_NAME_BYTES:
        return tail[: opening.start()], tail[opening.end() :]
    name, _, text = tail.partition(",")
    return name, text


GRAMMAR = Grammar(
    name="xid",
    version="4",
    table=table("gpu_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"NVRM:", b"Xid (PCI"),
    parse=parse,
    opens=re.compile(r"NVRM:\s*The NVIDIA GPU "),
    goes_on=re.compile(r"NVRM:\s*(?:\(PCI ID|fallen off the bus and)"),
)
