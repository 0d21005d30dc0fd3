r"""The watchdog of PyTorch's collectives: timeouts, watermarks, and its own standstill.

    [rank5]:[E314 11:42:07.327555102 ProcessGroupNCCL.cpp:683] [Rank 5] Watchdog caught collective operation timeout:
    WorkNCCL(SeqNum=412, OpType=BROADCAST, NumelIn=96, NumelOut=96, Timeout(ms)=600000) ran for 600013 milliseconds …
    [PG ID 0 PG GUID 0(default_pg) Rank 5]  failure detected by watchdog at work sequence id: 412 PG status: last enqueued
    work: 413, last completed work: 411

Written by ProcessGroupNCCL.cpp (torch 1.13 to 2.13) and its relatives of other libraries. The rank of the prefix is global,
the one behind `Rank` is that of the group. A timeout is a waiter's; `Received a dump signal … Last enqueued …` is printed by
ranks that did not time out and is their watermark. Not read: announcements of dumps, the hint behind the numbers.

Rejects: watchdog_cut.
"""

import re

from bathtub.ingest._messages import Grammar, Reject, Said
from bathtub.ingest._messages._job import JOB_EMITTERS, number, writer
from bathtub.schema import table

# [PG ID 0 PG GUID 0(default_pg) Rank 5]     [PG ID 3 PG GUID 4 Rank 1]     [PG 0 (default_pg) Rank 12]     [Rank 5]
_GROUP = re.compile(
    r"\[(?:PG ID (?P<pg_id>\d+) )?PG (?:GUID )?(?P<pg_name>[^\s\](]+)\s?(?:\((?P<pg_desc>[^)]*)\))?\s*Rank (?P<group_rank>\d+)\]",
    re.ASCII,
)
_LONE_RANK = re.compile(r"\[Rank (?P<group_rank>\d+)\]", re.ASCII)
# WorkNCCL(SeqNum=412, OpType=BROADCAST, NumelIn=96, NumelOut=96, Timeout(ms)=600000) ran for 600013 milliseconds
_TIMEOUT = re.compile(
    r"Watchdog caught collective operation timeout: Work\w+\((?:SeqNum=(?P<seq>\d+), )?OpType=(?P<op>\w+)"
    r".*?Timeout\(ms\)=(?P<timeout_ms>\d+)\) ran for (?P<elapsed_ms>\d+) milliseconds",
    re.ASCII,
)
# last enqueued work: 413, last completed work: 411         Last enqueued NCCL work: 411, last completed NCCL work: 411.
_MARKS = re.compile(
    r"ast enqueued (?:\w+ )?work: (?P<last_enqueued>-?\d+), last completed (?:\w+ )?work: (?P<last_completed>-?\d+)", re.ASCII
)
# at work sequence id: 412      detected by watchdog at work: 3305,      Timeout at NCCL work: 3305,
_AT = re.compile(r"\bat (?:\w+ )?work(?: sequence id)?: (\d+)", re.ASCII)
# ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress
_STUCK = re.compile(r"watchdog got stuck for (\d{1,12}) seconds", re.ASCII)
# Process group watchdog thread terminated with exception: NCCL error: …      Some NCCL operations have failed or timed out.
_EXIT = re.compile(r"watchdog thread terminated with exception|Some \w+ operations have failed or timed out")
_STARTED = re.compile(r"Watchdog caught collective operation timeout|ast enqueued \w* ?work:?")
_PREFIX = re.compile(r"^.*?ProcessGroup\w+\.cpp:\d+\]\s*", re.ASCII)


def parse(text: str) -> Said | None:
    """One line of the watchdog; Reject(`watchdog_cut`) where its numbers are not all there."""
    told = _told(text)
    if told is None:
        return Reject("watchdog_cut") if _STARTED.search(text) else None
    found = _GROUP.search(text) or _LONE_RANK.search(text)
    groups = found.groupdict() if found else {}
    return {
        **writer(text),
        "pg_id": number(groups.get("pg_id")),
        "pg_name": groups.get("pg_name"),
        "pg_desc": groups.get("pg_desc"),
        "group_rank": number(groups.get("group_rank")),
        "text": _PREFIX.sub("", text),
        **told,
    }


def _told(text: str) -> dict[str, object] | None:
    if found := _TIMEOUT.search(text):
        numbers = {name: number(found[name]) for name in ("seq", "timeout_ms", "elapsed_ms")}
        return {"kind": "watchdog_timeout", "role": "waiter", "op": found["op"], **numbers}
    if found := _MARKS.search(text):
        waits_at = _AT.search(text)
        marks = {name: number(digits) for name, digits in found.groupdict().items()}
        if waits_at is None:
            return {"kind": "watermark", "role": "context", **marks}
        return {"kind": "watermark", "role": "waiter", "seq": number(waits_at[1]), **marks}
    if found := _STUCK.search(text):
        return {"kind": "watchdog_stuck", "role": "root", "elapsed_ms": 1000 * int(found[1])}
    return {"kind": "watchdog_exit", "role": "cascade"} if _EXIT.search(text) else None


GRAMMAR = Grammar(
    name="nccl_watchdog",
    version="1",
    table=table("nccl_events"),
    emitters=JOB_EMITTERS,
    literals=(b"ProcessGroup",),
    parse=parse,
)
