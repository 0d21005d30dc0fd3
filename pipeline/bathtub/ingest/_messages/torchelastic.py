r"""The end of a worker as torchrun tells it.

    E0314 11:43:09.551000 2201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 5
    (pid: 2311) of binary: /opt/venv/bin/python
      time      : 2026-03-14_11:43:09
      host      : node04
      rank      : 1 (local_rank: 1)
      exitcode  : -6 (pid: 2307)

Written by torch.distributed.elastic (1.9 on). The lines of a summary are joined. A negative exit code is a signal. The rank
under `Root Cause (first observed failure)` has the smallest time stamp and is very often a victim: that line is not read, and
no end of a worker is a root.
"""

import re

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, MAX_RANK, number
from bathtub.schema import table

_FAILED = re.compile(r"failed \(exitcode: (?P<exit>-?\d+)\) local_rank: (?P<local>\d+) \(pid: (?P<pid>\d+)\)", re.ASCII)
_SUMMARY = re.compile(r"^\s*exitcode\s+: (?P<exit>-?\d+) \(pid: (?P<pid>\d+)\)", re.ASCII | re.MULTILINE)
_RANK = re.compile(r"^\s*rank\s+: (?P<rank>\d{1,8}) \(local_rank: (?P<local>\d+)\)", re.ASCII | re.MULTILINE)
_OPENS, _GOES_ON = re.compile(r"\s*time\s+: "), re.compile(r"\s*(?:host|rank|exitcode)\s+: ")
_HOST = re.compile(r"^\s*host\s+: (?P<host>\S+)", re.MULTILINE)


def parse(text: str) -> Said | None:
    """The end of one worker."""
    if found := _FAILED.search(text):
        return {**_ended(found, text), "local_gpu": number(found["local"])}
    found = _SUMMARY.search(text)
    if found is None:
        return None
    rank, host = _RANK.search(text), _HOST.search(text)
    own: dict[str, object] = {"host": host["host"] if host else None}
    if rank is not None and int(rank["rank"]) < MAX_RANK:
        own |= {"rank": int(rank["rank"]), "local_gpu": number(rank["local"])}
    return {**_ended(found, text), **own}


def _ended(found: re.Match[str], text: str) -> dict[str, object]:
    code = number(found["exit"])
    is_signal = code is not None and code < 0
    return {
        "kind": "rank_exit",
        "role": "context",
        "ranks": [],
        "flags": [],
        "pid": number(found["pid"]),
        "exit_code": None if is_signal else code,
        "exit_signal": -code if code is not None and is_signal else None,
        "text": text.strip(),
    }


GRAMMAR = Grammar(
    name="torchelastic",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"exitcode", b"      : "),
    parse=parse,
    opens=_OPENS,
    goes_on=_GOES_ON,
)
