"""Which GPU stands at which address: the driver's lines in front of a fault.

    NVRM: GPU at PCI:0000:3b:00: GPU-5f4203f3-0741-9ed7-b708-177b8c2273ed
    NVRM: GPU Board Serial Number: 1650000000001
    NVRM: GPU 0000:3b:00.0: GPU serial number is 1650000000001.

The serial of the second line belongs to the address of the line in front of it. What is read is an observation: the GPU stood
there at that time. Serials and UUIDs of zeros are placeholders. Without a known node there is no row.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._addresses import device_key
from bathtub.schema import table

_MAPPED = re.compile(
    r"NVRM:\s*GPU at (?P<bdf>(?:PCI:)?[0-9A-Fa-f:.]+):\s*(?P<uuid>GPU-[0-9A-Fa-f-]{36})"
    r"(?:\s*\nNVRM:\s*GPU Board Serial Number:\s*(?P<serial>\w+))?"
)
_SERIAL = re.compile(r"NVRM:\s*GPU (?P<bdf>(?:PCI:)?[0-9A-Fa-f:.]+?):?\s+GPU serial number is (?P<serial>\w+)")
_ZEROS = re.compile(r"(?:GPU-)?[0-]*")


def parse(text: str) -> Mapping[str, object] | None:
    """The inventory columns of one message; None where it names no GPU at an address."""
    found = _MAPPED.search(text) or _SERIAL.search(text)
    pci_bdf = device_key(found["bdf"]) if found else None
    if found is None or pci_bdf is None:
        return None
    identity = {"device_uuid": _known(found.groupdict().get("uuid")), "device_serial": _known(found["serial"])}
    if identity["device_uuid"] is None and identity["device_serial"] is None:
        return None
    return {
        "time_quality": "observation",
        "device_class": "gpu",
        "pci_bdf": pci_bdf,
        **identity,
    }


def _known(identity: str | None) -> str | None:
    return None if identity is None or _ZEROS.fullmatch(identity) else identity


GRAMMAR = Grammar(
    name="gpu_identity",
    version="1",
    table=table("inventory"),
    emitters=frozenset({"kernel"}),
    literals=(b"NVRM:",),
    parse=parse,
    opens=re.compile(r"NVRM:\s*GPU at "),
    goes_on=re.compile(r"NVRM:\s*GPU Board Serial Number"),
    needs_node=True,
)
