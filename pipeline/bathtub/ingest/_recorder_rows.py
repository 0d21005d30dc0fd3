"""A dump as plain columns: what the child process sends, and how a dict of any known layout becomes that.

Layouts 2.1 to 2.10 share their keys; a key that a layout lacks is a null column. Older ones call the number of a
collective `seq_id`, and the bare list of torch 2.2 has microseconds. Depth is bounded by construction: nothing below the
shapes of an entry is followed, and stack frames are not read.
"""

import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import NoReturn

import msgspec

from bathtub.ingest._recorder_columns import BIG, Checked
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
    "collective_seq_id": "collective_seq_id",
    "p2p_seq_id": "p2p_seq_id",
    "op_id": "op_id",
    "created_ns": "time_created_ns",
    "started_ns": "time_discovered_started_ns",
    "completed_ns": "time_discovered_completed_ns",
}
"""Columns that differ from entry to entry, and their keys."""
_NO_GROUP = (None, None)


class Forms(msgspec.Struct):
    """What entries have in common, a column each; rows are forms."""

    pg_id: list[int | None]
    pg_name: list[str | None]
    pg_desc: list[str | None]
    profiling_name: list[str | None]
    state: list[str | None]
    thread_name: list[str | None]
    is_retired: list[bool | None]
    is_p2p: list[bool | None]
    timeout_ms: list[int | None]
    input_sizes: list[str | None]
    output_sizes: list[str | None]
    input_dtypes: list[str | None]
    output_dtypes: list[str | None]


_FORM = (
    "process_group",
    "pg_id",
    "profiling_name",
    "state",
    "thread_name",
    "retired",
    "is_p2p",
    "timeout_ms",
    "input_sizes",
    "output_sizes",
    "input_dtypes",
    "output_dtypes",
)


class Dump(msgspec.Struct, tag=True):
    """One dump in columns.

    `integers`: 64-bit, as long as there are entries, null is -1; no bytes are a column of nulls. `form`: the number of each
    entry's form, 32-bit; `forms`: columns of what the entries of a form have in common.
    """

    version: str
    comm_lib_version: str | None
    n_entries: int
    n_groups: int
    flags: list[str]
    groups: list[Group]
    integers: dict[str, bytes]
    duration_ms: list[float | None] | None
    form: bytes
    forms: Forms


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
    form, rows = checked.forms(_values(entries, _FORM))
    forms = _forms(rows, checked)
    groups = groups_of(config, status, (forms.pg_id, forms.pg_name, forms.pg_desc), checked)
    library = value.get("comm_lib_version", value.get("nccl_version"))
    if not (config or status or entries):
        checked.flags.add("recorder_off")
    durations = [entry.get("duration_ms") for entry in entries]
    integers = _integers(entries, version, checked, is_json=is_json)
    return Dump(
        version=version,
        comm_lib_version=checked.texts([library])[0] if type(library) is str else None,
        n_entries=len(entries),
        n_groups=len(status),
        groups=groups,
        integers=integers,
        duration_ms=checked.floats(durations),
        form=form,
        forms=forms,
        flags=sorted(checked.flags),
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


def _integers(entries: list[dict[object, object]], version: str, checked: Checked, *, is_json: bool) -> dict[str, bytes]:
    keys = _keys(version)
    columns = dict(zip(keys, zip(*_values(entries, tuple(keys.values())), strict=True), strict=True)) if entries else {}
    if version == BARE_LIST and entries:
        times = checked.integers(columns["created_ns"], high=BIG // 1000)
        columns["created_ns"] = tuple(None if time is None else time * 1000 for time in times)
    if is_json and entries:  # there a time not discovered is written as 0
        for name in ("started_ns", "completed_ns"):
            columns[name] = tuple(time or None for time in columns[name])
    return {name: checked.packed(columns[name]) if entries else b"" for name in keys}


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


def _values(entries: list[dict[object, object]], keys: tuple[str, ...]) -> Iterable[tuple[object, ...]]:
    """The values of the keys in each entry, null where there is none."""
    try:
        return list(map(itemgetter(*keys), entries))
    except KeyError:
        return (tuple([entry.get(key) for key in keys]) for entry in entries)


def _forms(rows: list[tuple[object, ...]], checked: Checked) -> Forms:
    columns = dict(zip(_FORM, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(_FORM, ())
    pairs = [pair if isinstance(pair, (list, tuple)) and len(pair) == 2 else _NO_GROUP for pair in columns["process_group"]]  # noqa: PLR2004 - name and description
    if pairs.count(_NO_GROUP) != columns["process_group"].count(None):
        checked.flags.add("bad_values")
    return Forms(
        pg_id=checked.integers(columns["pg_id"]),
        pg_name=checked.texts([pair[0] for pair in pairs]),
        pg_desc=checked.texts([pair[1] for pair in pairs]),
        profiling_name=checked.texts(columns["profiling_name"]),
        state=checked.texts(columns["state"]),
        thread_name=checked.texts(columns["thread_name"]),
        is_retired=checked.booleans(columns["retired"]),
        is_p2p=checked.booleans(columns["is_p2p"]),
        timeout_ms=checked.integers(columns["timeout_ms"]),
        input_sizes=checked.shapes(columns["input_sizes"]),
        output_sizes=checked.shapes(columns["output_sizes"]),
        input_dtypes=checked.type_lists(columns["input_dtypes"]),
        output_dtypes=checked.type_lists(columns["output_dtypes"]),
    )
