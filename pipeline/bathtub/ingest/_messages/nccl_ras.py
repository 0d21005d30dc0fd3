r"""The report of NCCL's RAS client (`ncclras`, 2.24 on) as text, in a file of its own or in the middle of a job's output.

        0         1         3         4        32        32   RUNNING  MISMATCH
      30 ranks have launched up to operation 7310
      2 ranks have launched up to operation 7311
      Rank 17 -- GPU 1 managed by process 51233 on node 10.20.0.3

`OK` says that all ranks launched the same operations, which is no proof of health. Ranks are listed only for the smaller
set, behind its line: that may be the set that is ahead. Ranks are those of the communicator; 2.27.3 may print garbage.
Communicators' names, hints and the other columns of the table are not read.

Rejects: bad_rank.
"""

import re

from bathtub.ingest._messages import Grammar, Reject, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, MAX_RANK, number
from bathtub.schema import table

_GROUP = re.compile(r"\s*\d+\s+\d+\s+\d+\s+[\d-]+\s+[\d-]+\s+(?P<n_ranks>\d+)\s+RUNNING\s+(?P<error>[A-Z]+)\s*$", re.ASCII)
_LAUNCHED = re.compile(r"(?P<n_ranks>\d+) ranks? (?:have|has) launched up to operation (?P<last_enqueued>\d+)", re.ASCII)
_RANK = re.compile(r"Rank (?P<rank>-?\d+) -- GPU (?P<gpu>[\d,]+) managed by process (?P<pid>\d+) on node (?P<host>\S+)", re.ASCII)


def parse(text: str) -> Said | None:
    """One line of the report; Reject(`bad_rank`) for a rank that no job has."""
    common = {"role": "context", "ranks": [], "flags": [], "text": text.strip()}
    if found := _GROUP.match(text):
        is_ok = found["error"] == "OK"
        told = {"kind": "ras_ok" if is_ok else "ras_error", "error": found["error"], "n_ranks": number(found["n_ranks"])}
        return {**common, **told}
    if found := _LAUNCHED.search(text):
        return {**common, "kind": "ras_lag", **{name: number(digits) for name, digits in found.groupdict().items()}}
    if found := _RANK.search(text):
        rank = number(found["rank"])
        if rank is None or not 0 <= rank < MAX_RANK:
            return Reject("bad_rank")
        own = {"host": found["host"], "pid": number(found["pid"]), "local_gpu": number(found["gpu"].partition(",")[0])}
        return {**common, **own, "kind": "ras_rank", "group_rank": rank}
    return None


GRAMMAR = Grammar(
    name="nccl_ras",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"  RUNNING ", b"launched up to", b" managed by process "),
    parse=parse,
)
