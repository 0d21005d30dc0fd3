"""What the lines of Slurm's daemons share: levels in front, job tokens, host lists, and templates to rows."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bathtub.ingest._hostlist import MAX_EXPANDED, NO_NODE, expand_nodes
from bathtub.ingest._messages import Reject, Said

# slurmctld: error: sched: ...      [63532.0] error: ...      the daemon's name stands there again under journald and syslog
_LEVELS = re.compile(
    r"(?:(?:slurm(?:ctld|d|stepd)|sched|error|fatal|debug[1-5]?|verbose|info): {1,2}|\[(?P<step>\d{1,10}(?:\.[\w+]{1,20})?)\] )*"
)
# JobId=48   JobId=12210_11(12238)   JobId=100_*   JobId=100+1(101)   JobId=Invalid
JOB = r"JobId=(?P<job>[0-9]{1,10}(?:_(?:[0-9]{1,10}|\*|\[[^\]\s]*\]))?(?:\+[0-9]{1,6})?|Invalid)(?:\((?P<raw>[0-9]{1,10})\))?"
NODES = r"(?P<nodes>[^\s\[\],]*(?:\[[^\]\s]*\][^\s\[\],]*)*(?:,[^\s\[\],]+(?:\[[^\]\s]*\][^\s\[\],]*)*)*)"
_WHOLE = ("exit_code", "exit_signal", "n_gpus", "n_gpus_configured")
_MAX_EPOCH = 1 << 32
_COUNT = re.compile(r"gres/gpu count reported lower than configured \((\d{1,6}) < (\d{1,6})\)")


@dataclass(frozen=True)
class Template:
    """One kind of line: the event's word and the pattern of the message behind its levels.

    Groups become columns of the same name; `job`, `raw`, `nodes` and `booted` are read further. `says_node` is whether
    the line itself says which node it is about; else that is the host which wrote it.
    """

    event: str
    pattern: re.Pattern[str]
    says_node: bool = True


def template(event: str, pattern: str, *, says_node: bool = True) -> Template:
    """A template from its pattern, anchored at both ends."""
    return Template(event, re.compile(pattern + r"\s*", re.DOTALL), says_node)


def told(text: str, templates: Iterable[Template]) -> Said | None:
    """The rows of the first template that the message has; None where it has none."""
    levels = _LEVELS.match(text)
    assert levels is not None  # it matches nothing too
    message = text[levels.end() :]
    for each in templates:
        found = each.pattern.fullmatch(message)
        if found is not None:
            row = _row(each, found.groupdict(), message.strip(), levels["step"])
            return _by_node(row, found.groupdict().get("nodes")) if each.says_node else row
    return None


def _row(known: Template, groups: Mapping[str, str | None], message: str, step: str | None) -> dict[str, object]:
    row: dict[str, object] = {"event": known.event, "text": message, "flags": []}
    row |= {name: value.strip() for name in ("reason", "step") if (value := groups.get(name))}
    row |= {"state_set": state.upper()} if (state := groups.get("state_set")) else {}
    row |= {name: int(value) for name in _WHOLE if (value := groups.get(name))}
    row |= _job(groups.get("job"), groups.get("raw"))
    if step is not None and "job_id" not in row:
        number, _, part = step.partition(".")
        row |= {"job_id_raw": number, "step": row.get("step") or part or None}
    if booted := groups.get("booted"):
        row["booted_at"] = _instant(int(booted))
    counts = _COUNT.search(groups.get("reason") or "")
    if counts is not None:
        row |= {"n_gpus": int(counts[1]), "n_gpus_configured": int(counts[2])}
    return row


def _job(shown: str | None, raw: str | None) -> dict[str, object]:
    """The two ids of a job token; a plain number is its own raw id."""
    if shown is None or shown == "Invalid":
        return {}
    return {"job_id": shown, "job_id_raw": raw or (shown if shown.isdigit() else None)}


def _instant(seconds: int) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _MAX_EPOCH else None


def _by_node(row: Mapping[str, object], nodes: str | None) -> Said:
    """A row per node of the host list; a job's line stays, flagged, where the list cannot be read."""
    if nodes is None or nodes in NO_NODE:
        return {**row, "node": None}
    names = expand_nodes(nodes)
    if names is not None and len(names) * len(str(row["text"])) <= MAX_EXPANDED:
        return [{**row, "node": name} for name in names]
    if row.get("job_id") is None:
        return Reject("bad_node_list")
    return {**row, "node": None, "flags": ["bad_node_list"]}
