r"""The log of NVIDIA's fabric manager.

    [Feb 27 2025 15:10:02] [ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id ...

The times are local without a zone (the configuration's holds) and know whole seconds. There is no host: the node comes from the
configuration. A record is a line; records may go on in further lines and blank ones, which are out of scope. Only what the fabric
manager detects on switches is read: the same fault as the SXid of the kernel (`_messages/sxid.py`).
"""

import re

from bathtub.ingest._envelopes import Envelope, text_log
from bathtub.ingest._times import dated

_HEADER = re.compile(
    r"\[(?P<time>[A-Z][a-z]{2} [ \d]\d \d{4} \d\d:\d\d:\d\d)\] \[[A-Z]+\] (?:\[tid \d+\] )?(?P<message>.*)", re.DOTALL
)

FORMAT = text_log(
    Envelope("fabric_manager", _HEADER, dated, time_source="fabric_manager", emitter="fabricmanager", claim_share=0.25)
)
