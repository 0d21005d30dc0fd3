"""The NVSwitch driver's line in the kernel log, `SXid`, and the fabric manager's line of the same fault.

    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Severity 0 Engine instance 32 Sub-engine instance 00
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Data {0x00000001, 0x00000002}
    detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61

One fault prints up to three lines, and lines of several switches interleave: the SQL joins them. The engine instance of
the second equals the link; the third names none. Some codes (26006, 12033) carry neither severity nor link: null. Severity
is the word in the line, or 1 (fatal) and 0 of the severity line. The data are `registers`.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar, Reject
from bathtub.ingest._messages._addresses import MAX_DIGITS, device_key, hex_words
from bathtub.schema import table

_SXID = re.compile(r"SXid\s*\(\s*(?:PCI:)?(?P<bdf>[0-9A-Fa-f:.]+)?[^)]*\)\s*:\s*(?P<sxid>\d*),?\s*(?P<rest>.*)", re.DOTALL)
# 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
_FIRST = re.compile(r"(?:(?P<severity>Fatal|Non-fatal)\b,?\s*)?(?:Link (?P<link>-?\d{1,9})\b\s*)?(?P<text>.*)", re.DOTALL)
# 12028, Severity 0 Engine instance 32 Sub-engine instance 00
_SEVERITY = re.compile(r"Severity (?P<severity>\d)\b(?: Engine instance (?P<link>\d{1,9}))?")
_FABRIC = re.compile(
    r"detected NVSwitch (?P<severity>fatal|non-fatal) error (?P<sxid>\d{1,9}) on (?:fid|NodeId) \d+"
    r"(?: on NVSwitch pci bus id (?P<bdf>[0-9A-Fa-f:.]+))?(?: physical id \d+)?(?: port (?P<link>\d{1,9}))?"
)
_WORDS = {"Fatal": "fatal", "Non-fatal": "nonfatal", "fatal": "fatal", "non-fatal": "nonfatal", "1": "fatal", "0": "nonfatal"}


def parse(text: str) -> Mapping[str, object] | Reject | None:
    """The fault columns of one message; Reject(`sxid_no_code`) where the code cannot be read."""
    found = _SXID.search(text)
    if found is None:
        fabric = _FABRIC.search(text)
        return _row("fabric_manager", fabric, fabric, text) if fabric else Reject("sxid_no_code") if "SXid" in text else None
    if not 0 < len(found["sxid"]) < MAX_DIGITS:
        return Reject("sxid_no_code")
    rest = found["rest"].strip()
    if rest.startswith("Data"):
        return {**_row("data", found, None, rest), "registers": hex_words(rest)}
    severity = _SEVERITY.match(rest)
    if severity is not None:
        return _row("severity", found, severity, rest)
    first = _FIRST.match(rest)
    return _row("first", found, first, rest)


def _row(line_kind: str, found: re.Match[str], said: re.Match[str] | None, text: str) -> dict[str, object]:
    pci_bdf = device_key(found["bdf"])
    link = said["link"] if said else None
    return {
        "sxid": int(found["sxid"]),
        "is_xid_inferred": False,
        "pci_bdf": pci_bdf,
        "line_kind": line_kind,
        "line_severity": _WORDS.get(said["severity"] or "") if said else None,
        "link": None if link is None else int(link),
        "is_first": text.rstrip().endswith("(First)") if line_kind == "first" else None,
        "text": text.strip() or None,
        "flags": [] if pci_bdf else ["bad_device"],
    }


GRAMMAR = Grammar(
    name="sxid",
    version="1",
    table=table("gpu_faults"),
    emitters=frozenset({"kernel", "fabricmanager", "nv-fabricmanager"}),
    literals=(b"Xid (PCI", b"detected NVSwitch"),
    parse=parse,
)
