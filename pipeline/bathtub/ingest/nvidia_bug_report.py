r"""The report that `nvidia-bug-report.sh` collects: `nvidia-bug-report.log.gz`.

    uname: Linux gpu-a01 5.15.0-112-generic #122-Ubuntu SMP
    ____________________________________________

    *** /var/log/messages
    Mar  1 00:00:00 gpu-a01 kernel: NVRM: Xid (PCI:0000:3b:00): 79, ...

Sections stand between rulers; the kernel's lines come in several of them, wrapped as by syslog, the journal or dmesg, and each
line is read in the wrapper that it has. Equal lines of one boot are one by their time since boot, in the staging. The node of
lines without a host is the one that `uname` names. Local times have the configuration's zone. A report whose gzip was cut is
read as far as it goes; where the end is missing the last line is a reject. A record is a line.

Rejects: cut_short, line_too_long.
Quarantine: zone_required.
"""

import re

from bathtub.ingest import dmesg, dmesg_iso, dmesg_local, syslog_iso, syslog_rfc3164
from bathtub.ingest._envelopes import Envelope, Header, text_log
from bathtub.ingest._messages import Reject
from bathtub.ingest._times import Stamp
from bathtub.source import REPORT, Source

_WRAPPERS = (syslog_rfc3164.ENVELOPE, syslog_iso.ENVELOPE, dmesg_iso.ENVELOPE, dmesg_local.ENVELOPE, dmesg.ENVELOPE)


def _read(raw: str) -> Header | Reject | None:
    return next((header for each in _WRAPPERS if (header := each.header(raw)) is not None), None)


def _stamp(text: str, source: Source) -> Stamp:
    """The time by its shape: `Mar  1 00:00:00`, `Sun Mar  1 00:00:00 2026`, or ISO, of dmesg where it has a comma."""
    if text[0].isdigit():
        envelope = dmesg_iso.ENVELOPE if "," in text else syslog_iso.ENVELOPE
    else:
        envelope = dmesg_local.ENVELOPE if text[-5] == " " else syslog_rfc3164.ENVELOPE
    return envelope.stamp(text, source)


FORMAT = text_log(
    Envelope(
        "nvidia_bug_report",
        re.compile("(?!)"),
        _stamp,
        time_source="syslog",
        read=_read,
        claims=lambda head, _name: REPORT in head[:8192],
        literals=(b"setting system clock to", b"uname: Linux "),
        host_line=re.compile(r"uname: Linux (\S+) "),
        end_line=b"End of NVIDIA bug report log file",
    )
)
