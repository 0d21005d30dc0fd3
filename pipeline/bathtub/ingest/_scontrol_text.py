"""Text of `scontrol show`: records of `Key=value` pairs, on one line each or on several, and what stands in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bathtub.ingest._lines import numbered_lines
from bathtub.source import Source

MAX_RECORD = 1 << 20
NODE, JOB = "NodeName", "JobId"

_START = re.compile(r"(NodeName|JobId|PartitionName|ReservationName|StepId|FrontendName|LicenseName)=\S")
_PAIR = re.compile(r"(?<!\S)([A-Z][A-Za-z_:/]*)=(\S*)")
_REASON = re.compile(r"(?<!\S)Reason=")
# [root@2026-03-01T08:00:05]      behind a reason: it ends a line, or another key follows it
_SET_BY = re.compile(r"\[(?P<by>[^\s\[\]@]*)@(?P<at>[^\s\[\]]*)\](?=\s*(?:\n|\Z)|\s+[A-Z][A-Za-z_]*=)")
_REASON_END = re.compile(r"\n|(?<!\s)\s+(?:Comment|Extra|InstanceId)=|\Z")
# JobId=48 JobName=a b UserId=ann(1000) GroupId=...
_JOB_NAME = re.compile(r"(?<!\S)JobName=")
_JOB_NAME_END = re.compile(r"(?<!\s)\s+UserId=\S+ GroupId=")
# Nodes=gpu-[03-04] CPU_IDs=0-255 Mem=1835008 GRES=gpu:ampere:8(IDX:0-7)
_HELD = re.compile(r"(?<!\S)Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=gpu[^\s(]*\(IDX:([0-9,-]+)\)")


@dataclass(frozen=True)
class Shown:
    """One record: the number of its first line, the key that it begins with (none for a line of no record), its text."""

    line: int
    kind: str | None
    text: str
    is_too_long: bool = False


def shown(source: Source) -> Iterator[Shown]:
    """The records of a file. A line that is in none is a record of its own, of no kind; blank lines are not counted."""
    held: list[str] = []
    first, kind, size = 0, "", 0
    for number, line, is_cut in numbered_lines(source):
        start = _START.match(line)
        if held and (start or not line.strip()):
            yield Shown(first, kind, "\n".join(held), size > MAX_RECORD)
            held = []
        if start:
            first, kind, size = number, start[1], 0
        elif not held:
            if line.strip():
                yield Shown(number, None, line)
            continue
        size += len(line) + MAX_RECORD * is_cut
        held += [line] if size <= MAX_RECORD or not held else []
    if held:
        yield Shown(first, kind, "\n".join(held), size > MAX_RECORD)


def pairs(text: str) -> dict[str, str]:
    """The values without blanks by their keys; the first of a key that occurs more than once."""
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        found.setdefault(key, value)
    return found


def repeated(text: str, keys: Sequence[str]) -> bool:
    """Whether one of the keys occurs more than once, so that free text may stand for it."""
    seen = [key for key, _ in _PAIR.findall(text) if key in keys]
    return len(seen) != len(set(seen))


def node_parts(text: str) -> tuple[dict[str, str], Mapping[str, str | None]]:
    """The pairs of a node without its reason, and the reason with who set it and when; its further lines without indentation."""
    start = _REASON.search(text)
    if start is None:
        return pairs(text), {}
    by = _SET_BY.search(text, start.end())
    end = by or _REASON_END.search(text, start.end())
    assert end is not None  # the end of the text is one
    reason = "\n".join(line.strip() for line in text[start.end() : end.start()].strip().split("\n"))
    return pairs(text[: start.start()] + text[by.end() if by else end.start() :]), {
        "reason": reason,
        **(by.groupdict() if by else {}),
    }


def job_parts(text: str) -> tuple[dict[str, str], str | None]:
    """The pairs of a job without its name, and the name: what stands before the keys that follow it."""
    start = _JOB_NAME.search(text)
    end = start and _JOB_NAME_END.search(text, start.end())
    if start is None or end is None:
        return pairs(text), None
    return pairs(text[: start.start()] + text[end.start() :]), text[start.end() : end.start()]


def gpus_held(text: str) -> list[str] | None:
    """`host list:indices` of the GPUs that a job holds, null where the record does not tell."""
    return [f"{nodes}:{indices}" for nodes, indices in _HELD.findall(text)] or None
