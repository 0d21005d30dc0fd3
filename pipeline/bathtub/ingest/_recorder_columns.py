"""Columns out of a list of values nobody vouches for: each value has the asked type and range, or is null.

A column is checked as a whole (the set of its types, its extremes) and only where that fails value by value. What is the
same in thousands of entries (names, shapes, types, states) is told once, as a form, and each entry has the number of its
form: so what is shared a million times stays small.
"""

import json
import marshal
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from typing import TypeVar

from bathtub.ingest._recorder_pickle import Refused

BIG = (1 << 62) - 1
NULL = -1
"""Stands for null in a packed column."""
MAX_CHARACTERS = 512
MAX_ITEMS = 1 << 16
"""Items in one field of one entry: a coalesced operation may carry thousands of tensors."""

MAX_KEY = 4096
"""Bytes of a row's key; longer lists are told by a digest."""

_Kept = TypeVar("_Kept")


class Checked:
    """Makes columns and remembers in `flags` what was wrong. `budget` bounds the expanded items of all of them."""

    def __init__(self, budget: int = 1 << 25) -> None:
        self.flags: set[str] = set()
        self.budget = budget

    def spend(self, items: int) -> None:
        """Counts expanded items, however few bytes they took in the file. Raises Refused when there are too many."""
        self.budget -= items
        if self.budget < 0:
            raise Refused("too_many_items", "it expands to more items than a ring buffer holds")

    def packed(self, values: Sequence[object], high: int = BIG) -> bytes:
        """Whole numbers from 0 to `high` as 64-bit integers; null is -1, no bytes at all are a column of nulls."""
        if values.count(None) == len(values):
            return b""
        if set(map(type, values)) == {int} and min(values) >= 0 and max(values) <= high:  # type: ignore[type-var,operator]
            return array("q", values).tobytes()  # type: ignore[type-var]
        kept = self.integers(values, high=high)
        return array("q", [NULL if value is None else value for value in kept]).tobytes()

    def integers(self, values: Sequence[object], low: int = 0, high: int = BIG) -> list[int | None]:
        """Whole numbers from `low` to `high`; what is neither that nor None becomes null and is flagged."""
        return self._noted(values, [value if type(value) is int and low <= value <= high else None for value in values])

    def booleans(self, values: Sequence[object]) -> list[bool | None]:
        """True and False; what is neither that nor None becomes null and is flagged."""
        return self._noted(values, [value if type(value) is bool else None for value in values])

    def floats(self, values: Sequence[object]) -> list[float | None] | None:
        """Finite numbers from 0; what is neither that nor None becomes null and is flagged. None is a column of nulls."""
        if values.count(None) == len(values):
            return None
        kept = [float(value) if isinstance(value, (int, float)) and 0 <= value < BIG else None for value in values]
        return self._noted(values, kept)

    def texts(self, values: Sequence[object]) -> list[str | None]:
        """Texts of up to 512 characters; what is neither that nor None becomes null and is flagged."""
        return self._noted(values, [_text(value) if type(value) is str else None for value in values])

    def shapes(self, values: Sequence[object]) -> list[str | None]:
        """Lists of lists of sizes from 0, as JSON text."""
        return self._noted(values, [json.dumps(value) if _is_shape(value) else None for value in values])

    def type_lists(self, values: Sequence[object]) -> list[str | None]:
        """Lists of short texts (data types), as JSON text."""
        return self._noted(values, [json.dumps(value) if _is_type_list(value) else None for value in values])

    def forms(self, rows: Iterable[tuple[object, ...]]) -> tuple[bytes, list[tuple[object, ...]]]:
        """For each row the number of its form, as 32-bit integers, and the forms. Rows of equal values have one.

        The bytes of `marshal` tell 1 from True and from 1.0 and follow what is shared only once. Items of nested values
        count wherever they stand, so that a row costs what its form expands to.
        """
        known: dict[bytes, tuple[int, int]] = {}
        forms, codes, long = list[tuple[object, ...]](), array("i"), dict[int, bytes]()
        for row in rows:
            key = b"" if long else _key(row)
            if not key or len(key) > MAX_KEY:
                key = _key(_shortened(row, long))
            found = known.get(key)
            if found is None:
                found = known[key] = (len(forms), _n_items(row))
                forms.append(row)
            codes.append(found[0])
            self.budget -= found[1]
            if self.budget < 0:
                self.spend(0)
        return codes.tobytes(), forms

    def _noted(self, values: Sequence[object], kept: list[_Kept | None]) -> list[_Kept | None]:
        if kept.count(None) != values.count(None):
            self.flags.add("bad_values")
        return kept


def _text(value: str) -> str | None:
    return value.encode("utf-8", "replace").decode() if len(value) <= MAX_CHARACTERS else None  # half a surrogate pair


def _is_shape(value: object) -> bool:
    if type(value) is not list or len(value) > MAX_ITEMS or not set(map(type, value)) <= {list, tuple}:
        return False
    if sum(map(len, value)) > MAX_ITEMS:
        return False
    sizes = list(chain.from_iterable(value))
    return set(map(type, sizes)) <= {int} and (not sizes or 0 <= min(sizes) <= max(sizes) <= BIG)


def _is_type_list(value: object) -> bool:
    if type(value) is not list or len(value) > MAX_ITEMS or not set(map(type, value)) <= {str}:
        return False
    return max(map(len, value), default=0) <= MAX_CHARACTERS


def _key(value: object) -> bytes:
    """Equal bytes for equal values of equal types; one key for all that is nested deeper than 2,000, which no dump has."""
    try:
        return marshal.dumps(value)  # type: ignore[arg-type]
    except ValueError:
        return b"|".join(map(_key, value)) if type(value) is tuple else b"deep"


def _shortened(row: tuple[object, ...], long: dict[int, bytes]) -> tuple[object, ...]:
    """The row with digests in place of its long lists. `long`: the digests so far, since one list may be shared by all rows."""
    for value in row:
        if type(value) is list and id(value) not in long and len(key := _key(value)) > MAX_KEY // 8:
            long[id(value)] = blake2b(key, digest_size=16).digest()
    return tuple([long.get(id(value), value) for value in row])


def _n_items(row: tuple[object, ...]) -> int:
    """The items that a row expands to, as far as they are read."""
    nested = [value for value in row if type(value) is list]
    inner = (len(each) for value in nested if len(value) <= MAX_ITEMS for each in value if type(each) in (list, tuple))
    return 1 + sum(map(len, nested)) + min(sum(inner), MAX_ITEMS)
