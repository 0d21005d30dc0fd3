r"""Where a rank runs: what NCCL prints of a communicator at NCCL_DEBUG=INFO.

    node05:6120:6344 [5] NCCL INFO ncclCommInitRank comm 0x55d0a1b2c3d0 rank 5 nranks 8 cudaDev 5 nvmlDev 5 busId b1000
    commId 0x8f2d3c1e5a7b9d04 - Init COMPLETE

Written by NCCL 2.7 to 2.30 (src/init.cc) when a communicator starts, is ready or ends. The rank is that of the communicator.
`busId` is the PCI address without its separators, in hexadecimal without leading zeros: b1000 is 0000:b1:00.0. Other INFO
lines (channels, return codes) are not read.
"""

import re

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, MAX_RANK, number
from bathtub.schema import table

_COMM = re.compile(
    r"(?P<host>[A-Za-z0-9][\w.-]{0,254}):(?P<pid>\d+):\d+ (?:\[\d+\] )?NCCL INFO (?:\w+ )?comm (?P<comm>0x[0-9a-f]+) "
    r"rank (?P<rank>\d+) n[rR]anks (?P<n_ranks>\d+) cudaDev (?P<local_gpu>\d+) (?:nvmlDev (?P<nvml_gpu>\d+) )?"
    r"busId (?P<bus>[0-9a-f]{1,13})\b(?: commId (?P<comm_id>0x[0-9a-f]+))?",
    re.ASCII,
)
_BUS_DIGITS = 5  # bus, device, function


def parse(text: str) -> Said | None:
    """The placement that a communicator's line tells."""
    found = _COMM.search(text)
    if found is None:
        return None
    numbers = {name: number(found[name]) for name in ("pid", "rank", "n_ranks", "local_gpu", "nvml_gpu")}
    rank, n_ranks = numbers["rank"], numbers["n_ranks"]
    if rank is None or n_ranks is None or not rank < n_ranks <= MAX_RANK:
        return None
    return {
        "source_kind": "init",
        "host": found["host"],
        "comm_id": found["comm_id"] or found["comm"],
        "pci_bdf": _address(found["bus"]),
        **numbers,
    }


def _address(bus: str) -> str:
    digits = bus.rjust(_BUS_DIGITS + 4, "0")
    domain = digits[:-_BUS_DIGITS].lstrip("0").rjust(4, "0")
    return f"{domain}:{digits[-5:-3]}:{digits[-3:-1]}"


GRAMMAR = Grammar(
    name="nccl_init",
    version="1",
    table=table("placements"),
    emitters=JOB_EMITTERS,
    literals=(b" busId ",),
    parse=parse,
)
