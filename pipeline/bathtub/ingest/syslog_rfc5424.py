r"""Syslog in its newer form (RFC 5424).

    <4>1 2026-01-02T03:04:05.678901+01:00 gpu-a01 kernel - - - NVRM: Xid (PCI:0000:3b:00): 79, ...
    <4>1 2026-01-02T03:04:05Z gpu-a01 kernel - - [origin ip="10.0.0.1"] [12345.678901] NVRM: ...

The stamp has its own offset. `-` is a field that is not there. Structured data are skipped; a byte order mark in front of the
message is dropped.
"""

import re

from bathtub.ingest._envelopes import Envelope, Header, text_log, with_clock
from bathtub.ingest._times import iso

_ELEMENT = r'\[[^\s\]=]+ (?:[^\s\]="]+="(?:[^"\\]|\\.)*+" ?)*+\]'
_HEADER = re.compile(
    r"<\d{1,3}>\d{1,2} (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)|-) "
    rf"(?P<host>\S+) (?P<emitter>\S+) \S+ \S+ (?:-|(?:{_ELEMENT})+)(?: \ufeff?(?P<message>.*))?$",
    re.DOTALL,
)


def _read(raw: str) -> Header | None:
    found = _HEADER.match(raw)
    if found is None:
        return None
    host, emitter, time = (None if found[name] == "-" else found[name] for name in ("host", "emitter", "time"))
    return with_clock(found["message"] or "", emitter, host, time)


FORMAT = text_log(Envelope("syslog_rfc5424", _HEADER, iso, time_source="syslog", read=_read))
