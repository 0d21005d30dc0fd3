"""What an entry of a baseboard controller's log says: the code in its texts, and the part that it is about.

    [1767323045][12][0] XID 79 GPU has fallen off the bus.
    NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.

The controller copies the driver's event without its address and with `;` in place of `,`; a vendor's text may hold the whole line
of the kernel. Both are read by the grammars of the kernel's lines.
"""

import re
from collections.abc import Mapping, Sequence

from bathtub.ingest._agents import mapping, string
from bathtub.ingest._messages import Reject, sxid, xid
from bathtub.ingest._rows import Row

MAX_TEXT, MAX_ARGS = 4096, 32
# [1767323045][12][0] XID 79 GPU has fallen off the bus.       SXID 12028 Non-fatal; Link 32 egress …
_COPY = re.compile(r"\b(?P<kind>S?XID)[ :]+(?P<code>\d{1,9})\b[ :;,]*(?P<text>.*)", re.DOTALL)
_LINE = re.compile(r"\bS?Xid \(.*", re.DOTALL)
_NO_CODE = re.compile(r"\] ?S?XID\b")
_GPU = re.compile(r"\b(?:HGX_)?GPU_(?:SXM_)?\d{1,3}\b")


def texts_of(found: Mapping[str, object]) -> list[str]:
    """Where a code may stand: the arguments as such, then the message that holds them in quotes."""
    listed = found.get("MessageArgs")
    texts = [string(each) for each in (listed if isinstance(listed, list) else [])[:MAX_ARGS]]
    message = (string(found.get("Message")) or "").removesuffix(".").removesuffix("'")
    return [text[:MAX_TEXT] for text in (*texts, message) if text]


def fault_of(texts: Sequence[str], message_id: str) -> Row | Reject | None:
    """The fault columns of an entry, as its grammar reads them; Reject(`xid_no_code`) where it is one without a code."""
    for text in texts:
        copy, line = _COPY.search(text), _LINE.search(text)
        if copy is not None:
            spoken = f"{copy['kind'].replace('XID', 'Xid')} (): {copy['code']}, {copy['text'].replace(';', ',')}"
        elif line is not None:
            spoken = line[0]
        else:
            continue
        said: Row | Reject | None = sxid.parse(spoken) if spoken.startswith("S") else xid.parse(spoken)
        if said is not None:
            return said
    is_one = message_id.endswith("XIDError") or any(_NO_CODE.search(text) for text in texts)
    return Reject("xid_no_code") if is_one else None


def entity_of(found: Mapping[str, object], texts: Sequence[str]) -> str | None:
    """The part that an entry is about: a GPU by its place, else as the vendor or the origin names it."""
    origin = found.get("OriginOfCondition") or mapping(found.get("Links")).get("OriginOfCondition")
    place = (string(mapping(origin).get("@odata.id")) or string(origin) or "").rpartition("/")[2]
    gpu = next(filter(None, (_GPU.search(text) for text in (place, *texts))), None)
    vendors = [string(mapping(each).get("Device")) for each in mapping(found.get("Oem")).values()]
    return gpu[0] if gpu else next(filter(None, (*vendors, place)), None)
