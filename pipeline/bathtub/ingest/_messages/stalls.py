"""Stalls and crashes of the kernel: lockups, blocked tasks, stalls of read-copy-update, panics, oopses.

    watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python3:4242]
    NMI watchdog: Watchdog detected hard LOCKUP on cpu 5
    INFO: task kworker/3:1:4242 blocked for more than 120 seconds.
    rcu: INFO: rcu_sched self-detected stall on CPU
    BUG: unable to handle kernel NULL pointer dereference at 0000000000000000
    Kernel panic - not syncing: Fatal exception

The registers and the call trace behind them are out of scope.
"""

import re

from bathtub.ingest._messages import Grammar
from bathtub.ingest._messages._host import first_of
from bathtub.schema import table

GRAMMAR = Grammar(
    name="stalls",
    version="1",
    table=table("host_faults"),
    emitters=frozenset({"kernel"}),
    literals=(b"BUG: ", b"LOCKUP", b"blocked for", b"detected stall", b"Kernel panic", b" [#1]"),
    parse=first_of(
        (
            (
                "stall",
                "soft_lockup",
                re.compile(r"BUG: soft lockup - (?P<device>CPU#\d+) stuck for \d+s!(?: \[(?P<process>.+):(?P<pid>\d+)\])?"),
            ),
            ("stall", "hard_lockup", re.compile(r"hard LOCKUP on (?P<device>cpu \d+)")),
            (
                "stall",
                "blocked_task",
                re.compile(r"(?:INFO: |^|\s)task (?P<process>.+?):(?P<pid>\d+) blocked for more than (?P<code>\d+) seconds"),
            ),
            ("stall", "rcu_stall", re.compile(r"(?P<code>rcu\w*) (?:self-)?detected stalls?\b")),
            ("crash", "panic", re.compile(r"Kernel panic(?: - not syncing)?(?:: (?P<code>.*\S))?")),
            ("crash", "oops", re.compile(r"BUG: (?P<code>unable to handle [^:]*?)(?: at |:|$)")),
            ("crash", "oops", re.compile(r"(?P<code>Oops|general protection fault|divide error|invalid opcode)\b.* \[#1\]")),
            ("crash", "oops", re.compile(r" \[#1\]")),
            ("crash", "bug", re.compile(r"BUG: (?P<code>\S.*)")),
        )
    ),
)
