"""What else the kernel says of its host: heat, limits, libraries of the GPU, boots.

    CPU3: Core temperature above threshold, cpu clock throttled (total events = 17)
    thermal thermal_zone0: critical temperature reached, shutting down
    VFS: file-max limit 1000000 reached
    python3[4242]: segfault at 0 ip 00007f01 sp 00007ffd error 4 in libnccl.so.2.21.5[7f0100000000+1000]
    nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
    Linux version 5.15.0-112-generic (build@host) (gcc 11.4.0) #122-Ubuntu SMP
    reboot: Restarting system

The banner opens a boot. A throttled processor alone is benign. Of crashed programs only those that fell in a library of the
GPU or of its network are read.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import first_of
from bathtub.schema import table

_LIBRARIES = r"lib(?:nccl|cuda|cudart|cublas|cudnn|nvidia|ibverbs|mlx5)\S*?"

GRAMMAR = Grammar(
    name="host",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(
        b"temperature",
        b"file-max",
        b"segfault at",
        b"peermem",
        b"Linux version",
        b"reboot: ",
    ),
    parse=first_of(
        (
            (
                "thermal",
                "cpu_throttled",
                re.compile(r"(?P<device>CPU\d+): \w+ temperature above threshold(?:.*total events = (?P<n_errors>\d+))?"),
            ),
            ("thermal", "critical_temperature", re.compile(r"critical temperature reached")),
            ("limit", "file_max", re.compile(r"VFS: file-max limit (?P<code>\d+) reached")),
            (
                "library",
                "segfault",
                re.compile(rf"(?P<process>\S+)\[(?P<pid>\d+)\]: segfault at .* in (?P<code>{_LIBRARIES})(?:\[|,|\s|$)"),
            ),
            ("library", "peermem", re.compile(r"nvidia[-_]peermem.*(?:ERROR|error)(?::? (?P<code>.*\S))?")),
            ("boot", "banner", re.compile(r"^Linux version (?P<code>\S+)")),
            ("boot", "shutdown", re.compile(r"^reboot: (?P<code>Restarting system|Power down|System halted|machine restart)")),
        )
    ),
)
