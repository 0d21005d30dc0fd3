"""What agents on the nodes say of Xids and SXids, in the words of gpud and its kin, as fault rows.

    XID 79(GPU has fallen off the bus) detected on PCI:0000:04:00
    XID 149.2 (err status 0x00000000) NVLINK_NETIR_ERROR NVLINK: NETIR Error detected on GPU PCI:0018:01:00 UUID:GPU-5f0c…

(leptonai/gpud 4a8de33, components/accelerator/nvidia/xid.) Code and device are in the message; where there is none,
in the extra information, whose `device_uuid` holds a PCI address. The type of the event is the agent's own view.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from bathtub.ingest._messages._addresses import device_key
from bathtub.ingest._quantities import key_text
from bathtub.ingest._rows import RAW_LIMIT, Collector, Row
from bathtub.ingest._samples import Moment, Seen, observation

MAX_MESSAGE = 2048
_DETECTED = re.compile(
    r"\s*(?P<kind>S?XID)\s+(?P<code>\d{1,9})(?:\.(?P<subcode>\d{1,9}))?(?!\d)\s*(?:\(err status (?P<status>0x[0-9a-f]{1,8})\))?"
    r"\s*(?P<text>.*?)\s*(?:\bdetected on\s+(?P<device>(?:(?!\bdetected on).)*))?",
    re.IGNORECASE | re.DOTALL,
)
_PCI = re.compile(r"PCI:\s*([0-9A-Fa-f:.]+)")
_UUID = re.compile(r"(?:UUID:\s*)?(GPU-[0-9A-Za-z-]{1,40})")
_UNDECODABLE = (msgspec.DecodeError, RecursionError, ValueError)


@dataclass(frozen=True)
class Event:
    """One event of an agent, whatever carries it."""

    line: int
    moment: Moment
    node: str | None
    component: str | None
    name: str | None
    kind: str | None
    message: str
    extra: Mapping[str, object]
    raw: str
    tool: str

    @property
    def code_kind(self) -> str | None:
        """Whether the event is an Xid or an SXid: xid, sxid, or None."""
        return code_kind_of(f"{self.component} {self.name}")


def code_kind_of(words: str) -> str | None:
    """Whether an agent's name of a component or event is about Xids or SXids: xid, sxid, or None."""
    plain = words.lower().replace("_", "-")
    return "sxid" if "error-sxid" in plain else "xid" if "error-xid" in plain else None


def decoded(text: str | bytes) -> object:
    """A JSON text as plain values; None where it cannot be read, or holds null."""
    try:
        return msgspec.json.decode(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except _UNDECODABLE:
        return None


def mapping(value: object) -> Mapping[str, object]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def string(value: object) -> str | None:
    """A text that is not blank, or a number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value).strip() or None


def code_of(value: object) -> int | None:
    """A code out of a number, also one written as text or with a fraction of zero; None where it is none."""
    found = re.fullmatch(r"(\d{1,9})(?:\.0*)?", str(value).strip(), re.ASCII)
    return None if found is None or isinstance(value, bool) else int(found[1])


def fault_columns(message: str, extra: Mapping[str, object], code_kind: str) -> Row | None:
    """Code and device of a fault, from the message, else from the extra information; None without a code."""
    found = _DETECTED.fullmatch(message[:MAX_MESSAGE])
    data = extra.get("data")
    data = decoded(data) if isinstance(data, str) else data
    code = int(found["code"]) if found else code_of(mapping(data).get(code_kind, data))
    if code is None:
        return None
    subcode = found["subcode"] if found else mapping(data).get("sub_code")
    where = " ".join(filter(None, [found["device"] if found else None, string(extra.get("device_uuid"))]))
    pci, uuid = _PCI.search(where), _UUID.search(where)
    pci_bdf = device_key(pci[1].rstrip(".:")) if pci else None
    return {
        code_kind: code,
        "is_xid_inferred": False,
        "subcode": code_of(subcode),
        "pci_bdf": pci_bdf,
        "device_uuid": key_text(uuid[1]) if uuid else None,
        "text": (found["text"].strip("() ") or None) if found else None,
        "flags": [] if pci_bdf or uuid else ["bad_device"],
    }


def seen_event(event: Event, device: Mapping[str, object] | None = None) -> Seen:
    """The event as a look at its node."""
    nothing = dict.fromkeys(("pci_bdf", "device_uuid", "device_serial", "gpu_index"))
    return Seen(event.line, event.moment, event.node, {**nothing, **(device or {})}, {}, event.tool, event.raw)


def keep_fault(collector: Collector, event: Event, columns: Row) -> None:
    """A row of `gpu_faults`."""
    base = {"line": event.line, **event.moment.columns, "node": event.node, "raw": event.raw[:RAW_LIMIT]}
    collector.keep("gpu_faults", {**base, **columns})


def keep_event(collector: Collector, event: Event) -> None:
    """The rows of one event: a fault where it is an Xid or SXid, else a state. A fault without a code is rejected."""
    code_kind = event.code_kind
    if code_kind is None:
        uuid = _UUID.search(event.message)
        seen = seen_event(event, {"device_uuid": key_text(uuid[1]) if uuid else None})
        words = {"severity_word": event.kind, "component_word": event.component, "message": event.message or None}
        collector.keep("observations", observation(seen, 0, "agent_event", check_name=event.name, **words))
        collector.kept += 1
        return
    columns = fault_columns(event.message, event.extra, code_kind)
    if columns is None:
        collector.reject(event.line, "xid_no_code", event.raw)
        return
    keep_fault(collector, event, columns)
    collector.kept += 1
