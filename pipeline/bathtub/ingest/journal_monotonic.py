r"""The journal with times since boot: `journalctl -o short-monotonic`.

    [12345.678901] gpu-a01 kernel: NVRM: Xid (PCI:0000:3b:00): 79, ...
    [12346.000001] gpu-a01 systemd[1]: Started session.

The wall time is known, and `derived`, where the log still holds the line of its boot about the system clock, or the configuration
says `booted_at`; else it is null.
A clock that falls is that of another boot; the journal's own lines (`-- Boot ... --`) are out of scope. Lines of `dmesg` look
alike: this format is claimed only where one host stands in all lines and a process or the kernel behind it.
"""

import re

from bathtub.ingest._envelopes import Envelope, Header, text_log
from bathtub.ingest._times import UNKNOWN

_HEADER = re.compile(
    r"\[\s*(?P<seconds>\d{1,10})\.(?P<micros>\d{6})\] (?P<host>[^\s:]+) (?P<emitter>[^\s:\[\]]+)(?:\[\d+\])?: (?P<message>.*)",
    re.DOTALL,
)
_SURE = re.compile(rb"^\[ *\d{1,10}\.\d{6}\] ([^\s:]+) (?:kernel|[^\s:\[\]]+\[\d+\]): ", re.MULTILINE)
HALF = 0.5


def _read(raw: str) -> Header | None:
    found = _HEADER.match(raw)
    if found is None:
        return None
    micros = int(found["seconds"]) * 1_000_000 + int(found["micros"])
    return Header(found["message"], found["emitter"], found["host"], monotonic_us=micros)


def _claims(head: bytes, _name: str) -> bool:
    hosts = _SURE.findall(head)
    n_lines = sum(1 for line in head.splitlines() if line.startswith(b"["))
    return len(set(hosts)) == 1 and len(hosts) > HALF * n_lines


FORMAT = text_log(
    Envelope(
        "journal_monotonic",
        _HEADER,
        lambda _text, _source: UNKNOWN,
        time_source="kmsg_monotonic",
        read=_read,
        claims=_claims,
        literals=(b"setting system clock to",),
    )
)
