"""Remote file systems: NFS and Lustre clients.

    nfs: server 10.0.0.9 not responding, still trying
    nfs: server 10.0.0.9 OK
    LustreError: 11-0: scratch-OST0001-osc: operation ost_write to node 10.0.0.9@o2ib failed: rc = -107
    Lustre: scratch-OST0001-osc: Connection to scratch-OST0001 (at 10.0.0.9@o2ib) was lost; in progress operations will wait
    Lustre: scratch-OST0001-osc: Connection restored to 10.0.0.9@o2ib (at 10.0.0.9@o2ib)

`not responding` and the `OK` of the same server are one interval: the SQL joins them. Lines of mounting are out of scope.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import first_of
from bathtub.schema import table

GRAMMAR = Grammar(
    name="storage",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"nfs: server", b"Lustre"),
    parse=first_of(
        (
            ("storage", "nfs_not_responding", re.compile(r"nfs: server (?P<peer>\S+) not responding(?:, (?P<code>.*\S))?")),
            ("storage", "nfs_back", re.compile(r"nfs: server (?P<peer>\S+) OK")),
            ("storage", "lustre_evicted", re.compile(r"LustreError: .*(?:client was evicted by (?P<peer>[^\s;]+)|evicted)")),
            ("storage", "lustre_error", re.compile(r"LustreError: (?:.*? to node (?P<peer>\S+))?(?:.*rc = (?P<code>-?\d+))?")),
            ("storage", "lustre_lost", re.compile(r"Lustre: .*Connection to (?P<peer>\S+) .*was lost")),
            ("storage", "lustre_back", re.compile(r"Lustre: .*Connection restored to (?P<peer>\S+)")),
            ("storage", "lustre_slow", re.compile(r"Lustre: .*timed out")),
        )
    ),
)
