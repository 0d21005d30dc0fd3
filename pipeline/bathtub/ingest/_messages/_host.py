"""What the grammars of host lines share: patterns in order, and the row that the groups of the first match make.

A pattern's named groups are columns of `host_faults`; `device` as a PCI address gives `pci_bdf` too.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from bathtub.ingest._messages._addresses import device_key

Pattern: TypeAlias = tuple[str, str, re.Pattern[str]]
"""Family, kind, and what a message of this kind looks like."""

PCI = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
NUMBERS = frozenset({"port", "pid", "n_errors"})
MAX_DIGITS = 18
_PCI = re.compile(PCI)


def first_of(patterns: Sequence[Pattern]) -> Callable[[str], Mapping[str, object] | None]:
    """The parse of a grammar that is a list of patterns: the row of the first that is found, None where none is."""

    def parse(text: str) -> Mapping[str, object] | None:
        for family, kind, pattern in patterns:
            found = pattern.search(text)
            if found is not None:
                return host_row(family, kind, found.groupdict(), text)
        return None

    return parse


def host_row(family: str, kind: str, columns: Mapping[str, str | None], text: str) -> Mapping[str, object]:
    """The columns of one host line: numbers as such, addresses and severities in lower case."""
    row: dict[str, object] = {name: _number(value) if name in NUMBERS else value for name, value in columns.items()}
    device, severity = columns.get("device"), columns.get("severity_word")
    if device is not None and _PCI.fullmatch(device):
        row |= {"device": full_address(device), "pci_bdf": device_key(device)}
    if severity is not None:
        row["severity_word"] = severity.lower()
    if row.get("port_bdf") is not None:
        row["port_bdf"] = full_address(str(row["port_bdf"]))
    return {"family": family, "kind": kind, "text": text.strip() or None, "flags": [], **row}


def full_address(address: str) -> str:
    """`domain:bus:device.function` in lower case with a four-digit domain."""
    return f"{device_key(address)}.{address[-1]}"


def _number(digits: str | None) -> int | None:
    return int(digits) if digits is not None and digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS else None
