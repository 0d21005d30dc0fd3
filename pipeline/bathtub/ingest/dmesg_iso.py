r"""The kernel ring buffer with ISO times: `dmesg --time-format iso`, with or without `-x`.

    kern  :warn  : 2026-01-21T04:41:44,283302+00:00 NVRM: Xid (PCI:0000:38:00): 13, ...
    2026-01-21T04:41:44,283302+00:00 NVRM: Xid (PCI:0000:38:00): 13, ...

The fraction stands behind a comma. There is no host: the node comes from the configuration (a path pattern or
`--node`), else it is unknown. dmesg computes wall times from the time since boot: they drift over long uptimes and
suspends, so they are `derived`.
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import Stamp, iso
from bathtub.source import Source

_HEADER = re.compile(
    r"(?:[a-z]+\d?\s*:[a-z]+\s*:\s)?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{1,9}(?:Z|[+-]\d\d:?\d\d))[ \t]+(?P<message>.*)",
    re.DOTALL,
)


def _stamp(text: str, source: Source) -> Stamp:
    stamp = iso(text, source)
    return Stamp(stamp.at, "derived" if stamp.quality == "exact" else stamp.quality)


ENVELOPE = Envelope("dmesg_iso", _HEADER, _stamp, time_source="kmsg_wall", emitter="kernel")
FORMAT = text_log(ENVELOPE)
