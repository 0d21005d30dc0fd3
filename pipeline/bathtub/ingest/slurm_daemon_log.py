r"""The own logs of Slurm's daemons: `slurmctld.log`, `slurmd.log`.

    [2025-05-27T10:42:30.509] error: Nodes gpu-03 not responding, setting DOWN
    [2025-05-27T10:42:30.509+02:00] [63532.0] error: *** STEP 63532.0 ON cn106 CANCELLED AT 2025-05-27T10:42:30 ***
    [May 27 10:42:30] error: ...
    [May 27 10:42:30.509123  4242 0x7f1c2a3b4c00] error: ...

Written by Slurm 20.11 to 26.05; the times are those of LogTimeFormat: iso8601 and iso8601_ms (the default), in the zone of
the source; rfc5424, rfc5424_ms and rfc3339 with their own; `short` and `thread_id`, which have no year: it is the latest that
does not put the time a day or more after the file was collected, and such times are `derived`. `clock` tells processor time
only and is not claimed. Lines of the journal and of syslog come through those formats.

There is no host: lines about the node that wrote them (slurmd's) take it from the configuration (a path pattern or `--node`),
else it is unknown. A record is a line; one without a prefix continues the message before it and is out of scope.
What the messages say is in `_messages/slurmctld.py` and `_messages/slurmd.py`.

Rejects: bad_node_list, line_too_long.
Quarantine: zone_required.
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import Stamp, bsd, iso
from bathtub.source import Source

_HEADER = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
    r"(?:\.\d{1,6} +\d{1,10} 0x[0-9a-f]+)?\] (?P<message>.*)",
    re.DOTALL,
)


def _stamp(text: str, source: Source) -> Stamp:
    return iso(text, source) if text[0].isdigit() else bsd(text, source)


FORMAT = text_log(Envelope("slurm_daemon_log", _HEADER, _stamp, time_source="scheduler", emitter="slurm"))
