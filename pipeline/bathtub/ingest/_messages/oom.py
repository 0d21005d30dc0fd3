"""Programs that the kernel killed for memory: of a control group, or of the whole node.

    python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
    oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_0,mems_allowed=0-1,task=python3,pid=4242,uid=1000
    Memory cgroup out of memory: Killed process 4242 (python3) total-vm:100kB, anon-rss:20kB, file-rss:3kB
    Out of memory: Killed process 4242 (python3) total-vm:100kB
    oom_reaper: reaped process 4242 (python3), now anon-rss:0kB

Lines of one kill are one burst. `process` is the one that was killed; who asked for memory is nobody's fault. Lines can be
cut anywhere. Other programs' own words about memory (CUDA out of memory) are not the kernel's and not read.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import first_of
from bathtub.schema import table

_KILLED = r"Kill(?:ed)? process (?P<pid>\d+)(?:, UID \d+,)?(?: \((?P<process>[^)]*)\))?"
_VICTIM = r"(?:.*?,task=(?P<process>[^,]+),pid=(?P<pid>\d+))?"

GRAMMAR = Grammar(
    name="oom",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"oom-kill", b"ed process", b"f memory: Kill"),
    parse=first_of(
        (
            ("memory", "oom_cgroup", re.compile(rf"oom-kill:constraint=(?P<code>CONSTRAINT_MEMCG){_VICTIM}")),
            ("memory", "oom_global", re.compile(rf"oom-kill:constraint=(?P<code>CONSTRAINT_NONE){_VICTIM}")),
            ("memory", "oom_kill", re.compile(rf"oom-kill:constraint=(?P<code>\w+){_VICTIM}")),
            ("memory", "oom_invoked", re.compile(r"\binvoked oom-killer")),
            ("memory", "oom_cgroup", re.compile(rf"Memory cgroup out of memory: {_KILLED}")),
            ("memory", "oom_global", re.compile(rf"Out of memory: {_KILLED}")),
            ("memory", "oom_kill", re.compile(rf"{_KILLED},? total-vm:")),
            ("memory", "oom_reaped", re.compile(r"oom_reaper: reaped process (?P<pid>\d+) \((?P<process>[^)]*)\)")),
        )
    ),
)
