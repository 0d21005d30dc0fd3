"""A dump as plain columns: what the child process sends, and how a dict of any known layout becomes that.

Layouts 2.1 to 2.10 share their keys; a key that a layout lacks is a null column. Older ones call the number of a
collective `seq_id`, and the bare list of torch 2.2 has microseconds. Depth is bounded by construction: nothing below the
shapes of an entry is followed, and stack frames are not read.
"""

import re
from collections.abc import Mapping
from operator import itemgetter
from typing import NoReturn

import msgspec

from bathtub.ingest._recorder_columns import BIG, Checked, Texts
from bathtub.ingest._recorder_groups import Group, groups_of
from bathtub.ingest._recorder_pickle import Refused

MAX_ENTRIES = 1_000_000
MAX_GROUPS = 10_000
OLDEST = (1, 4)
NEWEST = (2, 10)
BARE_LIST = "list"
"""Stands for the version of the layout that has none."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})")

_INTEGERS = {
    "record_id": "record_id",
    "pg_id": "pg_id",
    "collective_seq_id": "collective_seq_id",
    "p2p_seq_id": "p2p_seq_id",
    "op_id": "op_id",
    "created_ns": "time_created_ns",
    "started_ns": "time_discovered_started_ns",
    "completed_ns": "time_discovered_completed_ns",
    "timeout_ms": "timeout_ms",
}
_TEXTS = ("profiling_name", "state", "thread_name")


class Dump(msgspec.Struct, tag=True):
    """One dump in columns, each as long as there are entries."""

    version: str
    comm_lib_version: str | None
    n_entries: int
    n_groups: int
    flags: list[str]
    groups: list[Group]
    integers: dict[str, list[int | None]]
    floats: dict[str, list[float | None]]
    booleans: dict[str, list[bool | None]]
    texts: dict[str, Texts]


class Refusal(msgspec.Struct, tag=True):
    """Why there is no dump."""

    reason: str
    detail: str


def dump_of(value: object, *, is_json: bool) -> Dump:
    """The dump in columns. Raises Refused where the structure is none of a dump's."""
    if isinstance(value, list):
        value = _listed(value)
    if not isinstance(value, dict):
        _bad(f"the top level is a {type(value).__name__}")
    checked = Checked()
    version = _version(value.get("version"), checked)
    entries = _entries(value, checked, is_json=is_json)
    config, status = _mapping(value, "pg_config"), _mapping(value, "pg_status")
    texts = _texts(entries, checked)  # first, since what expands is found there
    integers = {name: checked.integers(_values(entries, key)) for name, key in _keys(version).items()}
    if version == BARE_LIST:
        times = checked.integers(integers["created_ns"], high=BIG // 1000)
        integers["created_ns"] = [None if time is None else time * 1000 for time in times]
    if is_json:  # there a time not discovered is written as 0
        for name in ("started_ns", "completed_ns"):
            integers[name] = [time or None for time in integers[name]]
    groups = groups_of(config, status, (integers["pg_id"], texts["pg_name"], texts["pg_desc"]), checked)
    library = value.get("comm_lib_version", value.get("nccl_version"))
    if not (config or status or entries):
        checked.flags.add("recorder_off")
    return Dump(
        version=version,
        comm_lib_version=checked.texts([library]).distinct[0] if type(library) is str else None,
        n_entries=len(entries),
        n_groups=len(status),
        flags=sorted(checked.flags),
        groups=groups,
        integers=integers,
        floats={"duration_ms": checked.floats(_values(entries, "duration_ms"))},
        booleans={
            name: checked.booleans(_values(entries, key)) for name, key in (("is_retired", "retired"), ("is_p2p", "is_p2p"))
        },
        texts=texts,
    )


def _bad(what: str) -> NoReturn:
    raise Refused("bad_structure", f"{what}: this is no flight-recorder dump")


def _listed(value: list[object]) -> dict[str, object]:
    """The bare list of torch 2.2 as a dict of the later layouts: entries alone, no group has a name or members."""
    if not (value and isinstance(value[0], dict) and {"pg_id", "seq_id", "state"} <= value[0].keys()):
        _bad("the top level is a list of something else than entries")
    return {"version": BARE_LIST, "entries": value}


def _keys(version: str) -> dict[str, str]:
    """Column to key of an entry."""
    if version == BARE_LIST:
        return {**_INTEGERS, "collective_seq_id": "seq_id", "created_ns": "time_created_us"}
    is_old = tuple(map(int, version.split("."))) < (2, 1)
    return {**_INTEGERS, "collective_seq_id": "seq_id"} if is_old else _INTEGERS


def _version(value: object, checked: Checked) -> str:
    if value is BARE_LIST:
        return BARE_LIST
    found = _VERSION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        _bad("the version is not two numbers")
    pair = (int(found[1]), int(found[2]))
    if pair < OLDEST:
        raise Refused("unsupported_version", f"layout {found[0]} is of no release: layouts from 1.4 on are read")
    if pair > NEWEST:
        checked.flags.add("unknown_version")
    return found[0]


def _mapping(value: Mapping[object, object], key: str) -> dict[object, object]:
    found = value.get(key, {})
    if not isinstance(found, dict):
        _bad(f"{key} is a {type(found).__name__}")
    if len(found) > MAX_GROUPS:
        raise Refused("too_many_groups", f"{len(found)} in {key}; up to {MAX_GROUPS} are read")
    return found


def _entries(value: Mapping[object, object], checked: Checked, *, is_json: bool) -> list[dict[object, object]]:
    found = value.get("entries", [] if is_json else None)
    if not isinstance(found, list):
        _bad(f"entries is a {type(found).__name__}")
    if len(found) > MAX_ENTRIES:
        raise Refused("too_many_entries", f"{len(found)} entries; up to {MAX_ENTRIES} are read")
    checked.spend(len(found))
    entries = [entry if isinstance(entry, dict) else {} for entry in found]
    if not all(entries):
        checked.flags.add("bad_entries")
    return entries


def _values(entries: list[dict[object, object]], key: str) -> list[object]:
    """The value of a key in each entry, null where there is none."""
    try:
        return list(map(itemgetter(key), entries))
    except KeyError:
        return [entry.get(key) for entry in entries]


def _texts(entries: list[dict[object, object]], checked: Checked) -> dict[str, Texts]:
    texts = {name: checked.shapes(_values(entries, name)) for name in ("input_sizes", "output_sizes")}
    texts |= {name: checked.type_lists(_values(entries, name)) for name in ("input_dtypes", "output_dtypes")}
    texts |= {name: checked.texts(_values(entries, name)) for name in _TEXTS}
    pairs = _values(entries, "process_group")
    known = [pair if isinstance(pair, (list, tuple)) and len(pair) == 2 else (None, None) for pair in pairs]  # noqa: PLR2004 - name and description
    if any(pair is not None and len(kept) and kept[0] is None for pair, kept in zip(pairs, known, strict=True)):
        checked.flags.add("bad_values")
    texts["pg_name"] = checked.texts([pair[0] for pair in known])
    texts["pg_desc"] = checked.texts([pair[1] for pair in known])
    return texts
