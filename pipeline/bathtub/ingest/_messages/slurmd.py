r"""Lines of Slurm's node daemons, `slurmd` and `slurmstepd`: steps cancelled or stuck, GPUs without a device file, epilogs.

    [63532.0] error: *** STEP 63532.0 ON cn106 CANCELLED AT 2020-12-14T09:43:55 DUE TO TIME LIMIT ***
    fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory

Written by Slurm 20.11 to 26.05 into the node's own log, the journal or syslog (and by slurmstepd into the output of the
job, where they are not read). Notices of a step name their node; the other lines are about the host that wrote them. A step
that could not be killed is a consequence, never a cause.

Not read: the progress of steps (`done with job`), the messages of prologs and epilogs that are no plug-ins.

Rejects: bad_node_list.
"""

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._slurm import NODES, template, told
from bathtub.schema import table

_WHEN = r"AT [0-9T:+-]+"
_JOB = r"JOB (?P<job>[0-9]{1,10}(?:_[0-9]{1,10})?(?:\+[0-9]{1,6})?)"
_STEP = r"STEP (?P<job>[0-9]{1,10}(?:_[0-9]{1,10})?(?:\+[0-9]{1,6})?)\.(?P<step>[\w+]{1,20})"

_TEMPLATES = (
    # *** JOB 48 ON n03 CANCELLED AT 2026-03-01T08:00:05 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
    template("step_cancelled", rf"\*\*\* {_JOB} ON {NODES} CANCELLED {_WHEN}(?: [Dd][Uu][Ee] [Tt][Oo] (?P<reason>.*?))? \*\*\*"),
    template("step_cancelled", rf"\*\*\* {_STEP} ON {NODES} CANCELLED {_WHEN}(?: [Dd][Uu][Ee] [Tt][Oo] (?P<reason>.*?))? \*\*\*"),
    # *** STEP 63532.0 STEPD TERMINATED ON cn106 AT 2020-12-14T09:44:56 DUE TO JOB NOT ENDING WITH SIGNALS ***
    template("step_stuck", rf"\*\*\* {_JOB} STEPD TERMINATED ON {NODES} {_WHEN} DUE TO (?P<reason>.*?) \*\*\*"),
    template("step_stuck", rf"\*\*\* {_STEP} STEPD TERMINATED ON {NODES} {_WHEN} DUE TO (?P<reason>.*?) \*\*\*"),
    # gres_device_major: stat(/dev/nvidia2): No such file or directory
    template("gpu_device_missing", r"gres_device_major: (?P<reason>stat\(/dev/nvidia[0-9]{1,4}\): .*)", says_node=False),
    # can't stat gres.conf file /dev/nvidia0: No such file or directory
    template("gpu_device_missing", r"(?P<reason>can't stat gres\.conf file /dev/nvidia[0-9]{1,4}: .*)", says_node=False),
    # spank-epilog: error: pyxis: mkdir: cannot create directory '/scratch/tmp/data': Permission denied
    template("epilog_failed", r"spank-epilog: (?:error|fatal): (?P<reason>.*)", says_node=False),
    template("prolog_failed", r"spank-prolog: (?:error|fatal): (?P<reason>.*)", says_node=False),
)


def parse(text: str) -> Said | None:
    """The row of one message of a node's daemons."""
    return told(text, _TEMPLATES)


GRAMMAR = Grammar(
    name="slurmd",
    version="2",
    table=table("scheduler_events"),
    emitters=frozenset({"slurmd", "slurmstepd", "slurmctld", "slurm"}),
    literals=(b"*** ", b"gres_device_major", b"gres.conf file", b"spank-"),
    parse=parse,
)
