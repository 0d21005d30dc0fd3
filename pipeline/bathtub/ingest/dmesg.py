r"""The kernel ring buffer with times since boot: `dmesg`, with or without levels (`-x`) and callers, and pstore's copy of it.

    [12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, ...
    [12345.678901] [ T1946] NVRM: Xid (PCI:0000:3b:00): 79, ...
    <4>[  201.650687] BUG: unable to handle kernel NULL pointer dereference at 0000000000000010

There is neither host nor wall time. The node comes from the configuration (a path pattern or `--node`). The wall time is known,
and `derived`, where the buffer still holds the line of its boot about the system clock, or the configuration says when the
machine was booted (`booted_at`: for the first boot in the file); else it is null, and the time since boot alone is kept. A clock
that falls is that of another boot. pstore keeps the end of a crashed kernel's buffer (`dmesg-erst-*`); its parts can be out of
order. A header such as `Panic#1 Part1` is out of scope.
"""

import re

from bathtub.ingest._envelopes import Envelope, claims_lines, text_log
from bathtub.ingest._times import UNKNOWN
from bathtub.ingest.journal_monotonic import FORMAT as JOURNAL

_HEADER = re.compile(r"(?:<\d{1,3}>|[a-z]+\d?\s*:[a-z]+\s*:\s)?(?P<message>\[\s*\d{1,10}\.\d{1,9}\] .*)", re.DOTALL)
ENVELOPE = Envelope(
    "dmesg",
    _HEADER,
    lambda _text, _source: UNKNOWN,
    time_source="kmsg_monotonic",
    emitter="kernel",
    claims=lambda head, name: claims_lines(_HEADER, head) and not JOURNAL.claims(head, name),
    literals=(b"setting system clock to",),
)
FORMAT = text_log(ENVELOPE)
