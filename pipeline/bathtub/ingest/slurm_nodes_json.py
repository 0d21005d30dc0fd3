r"""Nodes as JSON: `scontrol show node --json`, `sinfo --json`, and slurmrestd's `/slurm/v0.0.*/nodes` and `/node/<name>`.

    {"nodes": [{"name": "gpu-03", "state": ["IDLE", "DRAIN"], "gres": "gpu:a100:8", "gres_used": "gpu:a100:0(IDX:N/A)",
      "reason": "ECC memory error", "reason_changed_at": {"set": true, "number": 1772352005}, "reason_set_by_user": "root"}]}

Written by Slurm 21.08 to 26.05; the version of the parser does not matter, since each value is read in every shape that any of
them gives it: a state as text with `state_flags`, or as a list whose order means nothing; a time as a number or as
`{set, infinite, number}`. `sinfo --json` since 23.02 has a list `sinfo` of groups of nodes instead. A record is an object of
that list and gives one row per node. Times are epoch seconds. `seen_at` is when the file was collected. Streamed: memory does
not depend on the length of the list.

Not read: everything else about a node, `last_update`, errors and warnings of the server.

Flags: bad_reason_time.
Rejects: bad_object (no object, or one without a name), bad_nodes.
Quarantine: bad_json, truncated_json.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal

from bathtub.ingest import Batch, Format
from bathtub.ingest._json import objects, opening
from bathtub.ingest._node_rows import NodeRows, snapshot, told
from bathtub.ingest._node_values import count_gpus, listed_state, person, words
from bathtub.ingest._times import Stamp
from bathtub.schema import table
from bathtub.source import Source

MAX_EPOCH = 4294967294
LISTS = ("nodes", "sinfo")


def _claims(head: bytes, _name: str) -> bool:
    keys = opening(head)
    of_node = {key for path, key in keys if path == "nodes.item"}
    is_node = {"name", "state"} <= of_node and not of_node.isdisjoint({"partitions", "architecture", "gres"})
    is_node = is_node or "architecture" in of_node
    is_group = {("sinfo.item", "node"), ("sinfo.item", "nodes")} <= keys
    return (is_node or is_group) and ("", "jobs") not in keys and ("", "apiVersion") not in keys


def _number(value: object) -> int | None:
    """A number, or the number of `{set, infinite, number}`; null where it is not set, or is one of Slurm's sentinels."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set", True) and not value.get("infinite") else None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    return int(value) if 0 < value < MAX_EPOCH else None


def _text(value: object) -> str | None:
    return words(value) if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    """A text or a list of texts."""
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(part for each in found if isinstance(each, str) for part in each.split("+") if part)


def _instant(value: object) -> datetime | None:
    seconds = _number(value)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _flat(found: Mapping[str, object], name: str) -> tuple[str | None, dict[str, object]]:
    """The host list of an object and what it says, a group of `sinfo` in the words of a node."""
    if name == "nodes":
        return _text(found.get("name")), dict(found)
    node, nodes, gres, reason = (_object(found.get(key)) for key in ("node", "nodes", "gres", "reason"))
    said = {
        "state": node.get("state"),
        "gres": gres.get("total"),
        "gres_used": gres.get("used"),
        "reason": reason.get("description"),
        "reason_changed_at": reason.get("time"),
        "reason_set_by_user": reason.get("user"),
    }
    return ",".join(_texts(nodes.get("nodes"))) or None, said


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _row(said: Mapping[str, object], source: Source) -> dict[str, object]:
    """The columns of one object but for its nodes."""
    state = listed_state((*_texts(said.get("state")), *_texts(said.get("state_flags"))))
    changed_at = _instant(said.get("reason_changed_at"))
    return {
        **snapshot(source),
        **told(state, Stamp(changed_at, "exact") if changed_at else None, "nodes_json"),
        "reason": _text(said.get("reason")),
        "reason_by": person(_text(said.get("reason_set_by_user"))),
        "booted_at": _instant(said.get("boot_time")),
        "n_gpus": count_gpus(_text(said.get("gres"))),
        "n_gpus_used": count_gpus(_text(said.get("gres_used"))),
        "gres": _text(said.get("gres")),
    }


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of a document, objects counted from 1 over both lists."""
    rows, n_read = NodeRows(FORMAT.name, source), 0
    for name in LISTS:
        for found in objects(source, f"{name}.item"):
            n_read += 1
            rows.n_read += 1
            nodes, said = _flat(found, name) if isinstance(found, Mapping) else (None, {})
            if nodes is None:
                rows.collector.reject(n_read, "bad_object", json.dumps(found, default=str))
            else:
                rows.take(n_read, nodes, _row(said, source), json.dumps(found, default=str))
            if rows.is_full:
                yield rows.collector.batch(rows.n_read)
                rows = NodeRows(FORMAT.name, source)
    yield rows.collector.batch(rows.n_read)


FORMAT = Format("slurm_nodes_json", "1", "an object of `nodes` or `sinfo`", (table("node_states"),), _claims, _parse)
