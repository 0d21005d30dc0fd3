"""Xids that agents tell Kubernetes: in the reason of a node's condition, or of an event about a node.

    NvidiaXID79Error    (a condition AcceleratedHardwareReady that is False)
    NvidiaXID13Warning  (an event)

(The node monitoring agent of EKS.) Which GPU it was stands in the message, if anywhere.
"""

import re
from collections.abc import Sequence

from bathtub.ingest._messages._addresses import device_key
from bathtub.ingest._quantities import key_text
from bathtub.ingest._rows import Row

_XID = re.compile(r"NvidiaXID([0-9]{1,9})(?:Error|Warning)")
# 0000:3b:00.0   PCI:0000:3b:00
_PCI = re.compile(r"(?<![0-9A-Za-z.-])(?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)(?![0-9A-Za-z])")
_UUID = re.compile(r"\bGPU-[0-9A-Za-z-]{1,40}")


def xid_of(reason: str | None) -> int | None:
    """The Xid of a reason; None where it tells of none."""
    found = _XID.fullmatch(reason or "")
    return int(found[1]) if found else None


def xid_columns(reason: str | None, message: str | None, doubts: Sequence[str] = ()) -> Row | None:
    """The own columns of a row of `gpu_faults`; None where the reason tells of no Xid. Flags: the doubts, and bad_device."""
    xid = xid_of(reason)
    if xid is None:
        return None
    pci, uuid = _PCI.search(message or ""), _UUID.search(message or "")
    pci_bdf, device_uuid = device_key(pci[1]) if pci else None, key_text(uuid[0]) if uuid else None
    return {
        "xid": xid,
        "is_xid_inferred": False,
        "pci_bdf": pci_bdf,
        "device_uuid": device_uuid,
        "text": message,
        "flags": [*doubts, *([] if pci_bdf or device_uuid else ["bad_device"])],
    }
