"""Lines as the carriers of a log wrap them: RFC 3164, the journal as text and as JSON, dmesg."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from bathtub.simulate.full.lines import Line
from bathtub.simulate.full.settings import STARTED_AT, at, local
from bathtub.simulate.full.topology import Node

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH_S = STARTED_AT.timestamp()


@lru_cache(maxsize=4096)
def _hour(number: int) -> tuple[str, str, str]:
    """The start of an hour as RFC 3164 and as ISO, without minutes, and its offset. Zones here have offsets of whole hours."""
    there = local(number * 3600)
    return f"{MONTHS[there.month - 1]} {there.day:>2} {there:%H}", f"{there:%Y-%m-%dT%H}", f"{there:%z}"


def _parts(at_s: float) -> tuple[int, int, int, int]:
    """Hour, minute, second, microsecond."""
    micros = round(at_s * 1e6)
    hour, rest = divmod(micros, 3_600_000_000)
    minute, rest = divmod(rest, 60_000_000)
    return hour, minute, *divmod(rest, 1_000_000)


def bsd(at_s: float) -> str:
    """`Mar  4 22:15:17`."""
    hour, minute, second, _ = _parts(at_s)
    return f"{_hour(hour)[0]}:{minute:02}:{second:02}"


def iso(at_s: float, *, comma: bool = False) -> str:
    """`2026-03-04T22:15:17.123456+0100`; dmesg has a comma before the fraction and a colon in the offset."""
    hour, minute, second, micros = _parts(at_s)
    _, head, offset = _hour(hour)
    if comma:
        return f"{head}:{minute:02}:{second:02},{micros:06}{offset[:3]}:{offset[3:]}"
    return f"{head}:{minute:02}:{second:02}.{micros:06}{offset}"


def _tag(line: Line) -> str:
    return f"{line.emitter}[{line.pid}]" if line.pid else line.emitter


def syslog(line: Line, node: Node, boots: Sequence[float]) -> str:
    """RFC 3164 with the kernel's own stamp."""
    stamp = ""
    if line.emitter == "kernel":
        up_s = line.at_s - boots[max(bisect_right(boots, line.at_s) - 1, 0)]
        stamp = f"[{int(up_s):5}.{int(up_s % 1 * 1e6):06}] "
    return f"{bsd(line.at_s + node.skew_s)} {node.name} {_tag(line)}: {stamp}{line.text}\n"


def journal_text(line: Line, node: Node, _boots: Sequence[float]) -> str:
    """`journalctl -o short-iso-precise`."""
    return f"{iso(line.at_s + node.skew_s)} {node.name} {_tag(line)}: {line.text}\n"


def journal_json(line: Line, node: Node, boots: Sequence[float]) -> str:
    """`journalctl -o json`."""
    number = max(bisect_right(boots, line.at_s) - 1, 0)
    up_us = int((line.at_s - boots[number]) * 1e6)
    entry = {
        "__REALTIME_TIMESTAMP": str(int((_EPOCH_S + line.at_s + node.skew_s) * 1e6)),
        "__MONOTONIC_TIMESTAMP": str(up_us + 40),
        "_BOOT_ID": blake2b(f"{node.name}{number}".encode(), digest_size=16).hexdigest(),
        "_HOSTNAME": node.name,
        "SYSLOG_IDENTIFIER": line.emitter,
        "PRIORITY": "4" if line.emitter == "kernel" else "6",
    }
    if line.emitter == "kernel":
        entry |= {"_TRANSPORT": "kernel", "_SOURCE_MONOTONIC_TIMESTAMP": str(up_us)}
    else:
        entry |= {"_TRANSPORT": "syslog", "SYSLOG_PID": str(line.pid)}
    return json.dumps(entry | {"MESSAGE": line.text}, separators=(",", ":")) + "\n"


def dmesg(line: Line, drift_s: float) -> str:
    """`dmesg -x --time-format iso`, whose wall times are computed from the time since boot."""
    return f"kern  :warn  : {iso(line.at_s + drift_s, comma=True)} {line.text}\n"


WRAPPERS = {"messages": syslog, "rack": syslog, "iso": journal_text, "journal": journal_json}


def stamp_name(at_s: float) -> str:
    """`20260304` of the civil day."""
    return f"{local(at_s):%Y%m%d}"


def epoch(at_s: float) -> int:
    """Unix seconds."""
    return int(at(at_s).timestamp())
