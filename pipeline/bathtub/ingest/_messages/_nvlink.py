"""What the lines about NVLink add: unit, link, severity word, sub-code and registers.

    149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 0x00000000 ...)      144-150
    74, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)

Names of units hold digits and `/`; the link can be -1; older drivers print fewer words, and the list can be cut. The first
register has another layout since R575; which of them fits is told by the table of the decoding, in SQL. The sub-code (149)
stands at the same place in both.
"""

import re
from collections.abc import Mapping

from bathtub.ingest._messages._addresses import hex_words

NVLINK5 = range(144, 151)
LINK_EVENT = 149
NVLINK_ERROR = 74
_NVLINK5 = re.compile(
    r"(?P<unit>[A-Z][A-Z0-9_/]*)\s+(?P<severity>Fatal|Nonfatal)\b(?:\s+XC\d+)?(?:\s+i\d+)?"
    r"(?:\s+Link\s+(?P<link>-?\d{1,9}))?(?:\s*\((?P<words>[^)]*))?"
)
_LINK = re.compile(r"\blink (?P<link>\d{1,9})\s*(?:\((?P<words>[^)]*))?")


def link_columns(xid: int, text: str) -> Mapping[str, object]:
    """The columns that the text of an NVLink code adds; none for other codes and for text that does not fit."""
    if xid == NVLINK_ERROR:
        found = _LINK.search(text)
        return {} if found is None else {"link": int(found["link"]), "registers": hex_words(found["words"] or "") or None}
    found = _NVLINK5.search(text) if xid in NVLINK5 else None
    if found is None:
        return {}
    words = hex_words(found["words"] or "")
    return {
        "unit": found["unit"],
        "line_severity": found["severity"].lower(),
        "link": None if found["link"] is None else int(found["link"]),
        "subcode": words[0] >> 20 & 63 if words and xid == LINK_EVENT else None,
        "registers": words or None,
    }
