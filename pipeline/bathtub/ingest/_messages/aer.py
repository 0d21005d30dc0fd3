"""PCI Express: error reports (AER), containment of a port (DPC), hot-plug slots (pciehp).

    pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0
    nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)
    nvidia 0000:3b:00.0:    [20] UnsupReq               (First)
    pcieport 0000:b0:02.0: DPC: containment event, status:0x1f01 source:0x0000
    pcieport 0000:b0:02.0: pciehp: Slot(12): Link Down

The root port reports, the device below it is what failed: `port_bdf` and `device`. Older kernels write the device as
`id=3b00` (bus, device and function as bits). Lines of one report belong together; the SQL joins them. Of the status
bits only the one marked (First) is read.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import PCI, first_of, full_address, host_row
from bathtub.schema import table

_SEVERITY = r"(?P<severity_word>Correct(?:ed|able)|Uncorrect(?:ed|able)(?: \((?:Non-)?Fatal\))?)"
# pcieport 0000:00:01.0: AER: Multiple Corrected error message received from 0000:3b:00.0
_RECEIVED = re.compile(
    rf"(?P<port_bdf>{PCI}): AER: (?:Multiple )?{_SEVERITY} error (?:message )?received(?: from)?:? ?"
    rf"(?:id=(?P<id>[0-9A-Fa-f]{{4}})|(?P<device>{PCI}))?"
)
# nvidia 0000:3b:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)
_BUS_ERROR = re.compile(rf"(?:(?P<device>{PCI}): )?(?:AER: )?PCIe Bus Error: severity={_SEVERITY}(?:, type=(?P<code>[^,(]+))?")
_OTHERS = first_of(
    (
        ("aer", "aer_status", re.compile(rf"(?P<device>{PCI}):\s+(?:AER:\s+)?\[\s*\d+\]\s*(?P<code>\w+)\s+\(First\)")),
        ("aer", "aer_not_recovered", re.compile(rf"(?P<device>{PCI}): AER: (?:device|Device) recovery failed")),
        ("aer", "aer_not_recovered", re.compile(rf"(?P<device>{PCI}): AER: can't recover")),
        ("aer", "aer_recovered", re.compile(rf"(?P<device>{PCI}): AER: (?:device|Device) recovery successful")),
        (
            "dpc",
            "dpc_containment",
            re.compile(rf"(?P<device>{PCI}): (?:AER: )?DPC: containment event(?:, status:(?P<code>0x[0-9A-Fa-f]+))?"),
        ),
        ("dpc", "dpc_cause", re.compile(rf"(?P<device>{PCI}): (?:AER: )?DPC: (?P<code>unmasked uncorrectable error|ERR_\w+)")),
        *(
            ("slot", kind, re.compile(rf"(?P<device>{PCI})(?::pcie\d+)?: (?:pciehp: )?Slot\((?P<port>[^)]*)\): {says}"))
            for kind, says in (
                ("slot_link_down", "Link Down"),
                ("slot_card_gone", "Card not present"),
                ("slot_power_fault", "Power fault"),
                ("slot_back", "(?:Link Up|Card present)"),
            )
        ),
    )
)


def parse(text: str) -> Mapping[str, object] | None:
    """The columns of one line of a report; None for lines at boot that only name these services."""
    found = _RECEIVED.search(text) or _BUS_ERROR.search(text)
    if found is None:
        return _OTHERS(text)
    columns = found.groupdict()
    bits, port = columns.pop("id", None), columns.get("port_bdf")
    if bits is not None and port is not None:
        columns["device"] = _device_of(bits, full_address(port))
    columns["device"] = columns["device"] or port
    return host_row("aer", _kind(found["severity_word"]), columns, text)


def _kind(severity: str) -> str:
    if severity.startswith("Correct"):
        return "aer_corrected"
    return {"(Fatal)": "aer_fatal", "(Non-Fatal)": "aer_nonfatal"}.get(severity.partition(" ")[2], "aer_uncorrected")


def _device_of(bits: str, port: str) -> str:
    """`id=3b00` in the domain of its port: bus, five bits of device, three of function."""
    number = int(bits, 16)
    return f"{port[:4]}:{number >> 8:02x}:{number >> 3 & 31:02x}.{number & 7}"


GRAMMAR = Grammar(
    name="aer",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"AER: ", b"PCIe Bus Err", b"(First)", b"DPC: ", b"pciehp"),
    parse=parse,
)
