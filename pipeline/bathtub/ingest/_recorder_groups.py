"""Process groups of a rank: the local numbers of its status, the names and members of its configuration."""

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

import msgspec

from bathtub.ingest._recorder_columns import BIG, Checked
from bathtub.ingest._recorder_pickle import Refused

MAX_MEMBERS = 1 << 20
MEMBER_COST = 32
"""A member counts as so many items: it is told again for each rank and joined with what the rank did; a million may be told."""

_RANKS = re.compile(r"\[(?:\d{1,9}(?:, ?\d{1,9})*)?\]")  # what torch writes: "[0, 1]"
_CODE = re.compile(r"[A-Za-z_(){}'\"]")
_NUMBER = re.compile(r"-?\d{1,18}")

_Name: TypeAlias = tuple[str | None, str | None]


class Group(msgspec.Struct, array_like=True):
    """One process group of a rank: its local number, its name and members, its watermarks."""

    pg_id: int | None
    pg_name: str | None
    pg_desc: str | None = None
    member_ranks: list[int] | None = None
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None


def groups_of(
    config: Mapping[object, object],
    status: Mapping[object, object],
    forms: tuple[Sequence[int | None], Sequence[str | None], Sequence[str | None]],
    checked: Checked,
) -> list[Group]:
    """The groups with a status in order of their local numbers, then those that only the configuration names.

    `forms`: local numbers, names and descriptions of the entries; they alone say which name a local number has. Raises Refused.
    """
    names = _names(*forms, checked)
    if not status and config and all(type(key) is int for key in config):
        numbered = [(pg_id, ranks) for key, ranks in config.items() if (pg_id := _whole(key, 0)) is not None]
        return [Group(pg_id, None, None, _numbers(ranks, checked)) for pg_id, ranks in sorted(numbered, key=itemgetter(0))]
    members = {name: row for name, value in config.items() if (row := _configured(name, value, checked)) is not None}
    rows = []
    for key, value in status.items():
        pg_id = _whole(key, 0)
        if pg_id is None or not isinstance(value, dict):
            checked.flags.add("bad_status")
            continue
        name, description = names.get(pg_id, (None, None))
        given = [value.get(f"last_{what}_collective") for what in ("enqueued", "started", "completed")]
        marks = [_whole(mark, -1) for mark in given]
        if marks.count(None) != given.count(None):
            checked.flags.add("bad_status")
        known = members.pop(name, None)
        rows.append(Group(pg_id, name, description, known.member_ranks if known else None, *marks))
    rows.sort(key=lambda group: group.pg_id or 0)
    return rows + list(members.values())


def _names(
    pg_ids: Sequence[int | None], names: Sequence[str | None], descriptions: Sequence[str | None], checked: Checked
) -> dict[int, _Name]:
    """Local number to (name, description) through the rank's own entries; a number with two names has none."""
    found: dict[int, _Name] = {}
    for pg_id, name, description in dict.fromkeys(zip(pg_ids, names, descriptions, strict=True)):
        if pg_id is None or name is None:
            continue
        if found.setdefault(pg_id, (name, description))[0] != name:
            checked.flags.add("ambiguous_group")
            found[pg_id] = (None, None)
    return found


def _configured(name: object, value: object, checked: Checked) -> Group | None:
    if not isinstance(name, str) or not isinstance(value, dict):
        checked.flags.add("bad_config")
        return None
    texts = checked.texts([name, value.get("desc")])
    return Group(None, texts[0], texts[1], _members(value.get("ranks"), checked))


def _members(value: object, checked: Checked) -> list[int] | None:
    """The members out of `"[0, 1]"` and nothing else; null where the text is empty of ranks, as gloo writes it."""
    if not isinstance(value, str) or len(value) > MAX_MEMBERS:
        checked.flags.add("bad_ranks")
        return None
    if _CODE.search(value):
        raise Refused("code_in_ranks", "pg_config.ranks holds more than numbers: some readers would execute it")
    checked.spend(MEMBER_COST * (1 + value.count(",")))
    if not _RANKS.fullmatch(value):
        checked.flags.add("bad_ranks")
        return None
    return [int(rank) for rank in value[1:-1].split(",")] if len(value) > 2 else None  # noqa: PLR2004 - the brackets


def _numbers(value: object, checked: Checked) -> list[int] | None:
    """The members as layout 1.4 writes them: a list of numbers under the rank-local number of the group."""
    if not isinstance(value, list) or not all(type(rank) is int and 0 <= rank < MAX_MEMBERS for rank in value):
        checked.flags.add("bad_ranks")
        return None
    checked.spend(MEMBER_COST * (1 + len(value)))
    return value or None


def _whole(value: object, low: int) -> int | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):  # JSON writes numbers as text
        value = int(value)
    return value if type(value) is int and low <= value <= BIG else None
