r"""The kernel ring buffer with local times: `dmesg -T`, with or without levels (`-x`) and callers.

    [Sun Feb 23 16:24:24 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, ...
    kern  :warn  : [Sun Feb 23 16:24:24 2025] NVRM: ...

The times are local without a zone (the configuration's holds), and dmesg computes them from the time since boot, which stands
still in suspend: they are `derived`, and `future` where they lie a day or more after the collection. There is no host: the node
comes from the configuration.
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import Stamp, dated
from bathtub.source import Source

_HEADER = re.compile(
    r"(?:[a-z]+\d?\s*:[a-z]+\s*:\s)?\[(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] "
    r"(?:\[\s*[TC]\d+\]\s*)?(?P<message>.*)",
    re.DOTALL,
)


def _stamp(text: str, source: Source) -> Stamp:
    stamp = dated(text[4:], source)
    return Stamp(stamp.at, "derived", stamp.zone_assumed) if stamp.quality == "exact" else stamp


ENVELOPE = Envelope("dmesg_local", _HEADER, _stamp, time_source="kmsg_wall", emitter="kernel")
FORMAT = text_log(ENVELOPE)
