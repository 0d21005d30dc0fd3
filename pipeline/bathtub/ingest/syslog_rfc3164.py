r"""Syslog in the old BSD form (RFC 3164), as `/var/log/messages` and `kern.log` hold it.

    Jan  4 22:15:17 gpu-a01 kernel: [12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, ...

The stamp has neither year nor zone: the year is the latest that does not put the time a day or more after the file
was collected, the zone is the configuration's. `last message repeated n times` has no emitter and is out of scope:
the repeats of a fault line are one burst anyway.
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import bsd

# Jan  4 22:15:17 gpu-a01 kernel: NVRM: ...      separators may be tabs; the tag may be kernel[0]; <4> may stand first
_HEADER = re.compile(
    r"(?:<\d{1,3}>)?(?P<time>[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,6})?)[ \t]+"
    r"(?P<host>[^\s:]+|[0-9A-Fa-f:]{3,39})[ \t]+"
    r"(?:(?P<emitter>[^\s:\[\]]+)(?:\[\d+\])?:[ \t]*)?(?P<message>.*)",
    re.DOTALL,
)

ENVELOPE = Envelope("syslog_rfc3164", _HEADER, bsd, time_source="syslog")
FORMAT = text_log(ENVELOPE)
