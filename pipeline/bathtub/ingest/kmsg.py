r"""Records of `/dev/kmsg`.

    4,1227,437812449932,-;NVRM: Xid (PCI:0000:01:00): 43, pid=1814139, name=python3, Ch 00000018
     SUBSYSTEM=pci
     DEVICE=+pci:0000:01:00.0

Priority (facility * 8 + level), sequence, microseconds since boot, flags, and perhaps more fields up to the `;`. Unprintable
bytes are `\xNN`, a line break inside a message `\x0a`. Lines that begin with a blank are data of the record above and out of
scope, like lines of any other shape. The kernel's own records have facility 0; others were written by programs, and their tag
is the emitter. The node comes from the configuration. The wall time is known, and `derived`, where the buffer still holds the
line of its boot about the system clock, or the configuration says `booted_at`; else it is null.
Reference: Documentation/ABI/testing/dev-kmsg of Linux.

Rejects: kmsg_bad_header, line_too_long.
"""

import re

from bathtub.ingest._envelopes import Envelope, Header, text_log
from bathtub.ingest._messages import Reject
from bathtub.ingest._times import UNKNOWN

_HEADER = re.compile(r"(?P<priority>\d{1,6}),\d{1,20},(?P<micros>\d{1,18}),[^;,]*(?:,[^;]*)?;(?P<message>.*)", re.DOTALL)
_ALIKE = re.compile(r"\d{1,6},\d{1,20}(?:,|$)")
_ESCAPED = re.compile(r"(?:\\x[0-9a-f]{2})+")
# systemd[1]: Started session.
_TAG = re.compile(r"([^\s:\[\]]+)(?:\[\d+\])?: ")
KERNEL = 0
LEVELS = 8


def _read(raw: str) -> Header | Reject | None:
    found = _HEADER.match(raw)
    if found is None:
        return Reject("kmsg_bad_header") if _ALIKE.match(raw) else None
    message = _ESCAPED.sub(_decoded, found["message"])
    micros = int(found["micros"])
    if int(found["priority"]) // LEVELS == KERNEL:
        return Header(message, "kernel", monotonic_us=micros)
    tag = _TAG.match(message)
    return Header(message[tag.end() :] if tag else message, tag[1] if tag else "user", monotonic_us=micros)


def _decoded(escaped: re.Match[str]) -> str:
    return bytes.fromhex(escaped[0].replace("\\x", "")).decode("utf-8", "replace")


FORMAT = text_log(
    Envelope(
        "kmsg",
        _HEADER,
        lambda _text, _source: UNKNOWN,
        time_source="kmsg_monotonic",
        read=_read,
        literals=(b"setting system clock to",),
        claim_share=0.3,
    )
)
