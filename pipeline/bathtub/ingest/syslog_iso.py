r"""Logs whose lines begin with an ISO time and a host: `journalctl -o short-iso[-precise]`, rsyslog's file format.

    2026-01-02T03:04:05+0100 gpu-a01 kernel: NVRM: Xid (PCI:0000:3b:00): 79, ...
    2026-01-02T03:04:05.678901+01:00 gpu-a01 kernel: NVRM: ...

The offset may have a colon, be `Z`, or be missing (then the configuration's zone holds). A comma before the fraction
is dmesg's spelling and belongs to `dmesg_iso`. The journal's own lines (`-- Boot ... --`) are out of scope.
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import iso

_HEADER = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)[ \t]+(?P<host>[^\s:]+)[ \t]+"
    r"(?P<emitter>[^\s:\[\]]+)(?:\[\d+\])?:[ \t]*(?P<message>.*)",
    re.DOTALL,
)

ENVELOPE = Envelope("syslog_iso", _HEADER, iso, time_source="syslog")
FORMAT = text_log(ENVELOPE)
