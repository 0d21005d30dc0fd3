"""Columns out of a list of values nobody vouches for: each value has the asked type and range, or is null.

A column is checked as a whole (the set of its types, its extremes) and only where that fails value by value. Texts,
shapes and type lists become numbers into a list of distinct texts, so that what is shared a million times stays small.
"""

import json
import marshal
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

from bathtub.ingest._recorder_pickle import Refused

BIG = (1 << 62) - 1
MAX_CHARACTERS = 512
MAX_ITEMS = 1 << 16
"""Items in one field of one entry: a coalesced operation may carry thousands of tensors."""

_NONE = type(None)
_Kept = TypeVar("_Kept")


class Texts(NamedTuple):
    """A text column: distinct texts, and for each row the number of its text; null is null."""

    distinct: list[str | None]
    codes: list[int | None]


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

    def integers(self, values: Sequence[object], low: int = 0, high: int = BIG) -> list[int | None]:
        """Whole numbers from `low` to `high`; what is neither that nor None becomes null and is flagged."""
        if set(map(type, values)) == {int} and low <= min(values) and max(values) <= high:  # type: ignore[type-var,operator]
            return list(values)  # type: ignore[arg-type]
        kept = [value if type(value) is int and low <= value <= high else None for value in values]
        return self._noted(values, kept)

    def booleans(self, values: Sequence[object]) -> list[bool | None]:
        """True and False; what is neither that nor None becomes null and is flagged."""
        if set(map(type, values)) <= {bool, _NONE}:
            return list(values)  # type: ignore[arg-type]
        return self._noted(values, [value if type(value) is bool else None for value in values])

    def floats(self, values: Sequence[object]) -> list[float | None]:
        """Finite numbers from 0; what is neither that nor None becomes null and is flagged."""
        if set(map(type, values)) <= {_NONE}:
            return [None] * len(values)
        kept = [float(value) if isinstance(value, (int, float)) and 0 <= value < BIG else None for value in values]
        return self._noted(values, kept)

    def texts(self, values: Sequence[object]) -> Texts:
        """Texts of up to 512 characters; what is neither that nor None becomes null and is flagged."""
        kept = values if set(map(type, values)) <= {str, _NONE} else [value if type(value) is str else None for value in values]
        return self._coded(self._noted(values, list(kept)), self._text)

    def shapes(self, values: Sequence[object]) -> Texts:
        """Lists of lists of sizes from 0, as JSON text."""
        return self._coded(self._noted(values, self._once(values, self._shape)), json.dumps)

    def type_lists(self, values: Sequence[object]) -> Texts:
        """Lists of short texts (data types), as JSON text."""
        return self._coded(self._noted(values, self._once(values, self._types)), json.dumps)

    def _once(self, values: Sequence[object], read: Callable[[object], tuple[int, _Kept | None]]) -> list[_Kept | None]:
        """What `read` makes of each value. Equal values are read once, but their items count wherever they stand.

        The bytes of `marshal` tell 1 from True and from 1.0, follow what is shared only once, and cost a fifth of `read`.
        """
        known: dict[object, tuple[int, _Kept | None]] = {}
        kept = []
        for value in values:
            found = known.get(id(value))
            if found is None:
                found = known[id(value)] = self._equal(value, known, read)
            self.spend(found[0])
            kept.append(found[1])
        return kept

    def _equal(
        self,
        value: object,
        known: dict[object, tuple[int, _Kept | None]],
        read: Callable[[object], tuple[int, _Kept | None]],
    ) -> tuple[int, _Kept | None]:
        try:
            key = marshal.dumps(value)  # type: ignore[arg-type]
        except ValueError:  # deeper than 2,000
            return 1, None
        found = known.get(key)
        if found is None:
            n_items, made = read(value)
            found = known[key] = (max(n_items, len(key) // 8), made)
        return found

    def _noted(self, values: Sequence[object], kept: list[_Kept | None]) -> list[_Kept | None]:
        if kept.count(None) != values.count(None):
            self.flags.add("bad_values")
        return kept

    def _coded(self, keys: Sequence[object], text_of: Callable[[object], str | None]) -> Texts:
        codes: dict[object, int] = {}
        rows = [None if key is None else codes.setdefault(key, len(codes)) for key in keys]
        return Texts([text_of(key) for key in codes], rows)

    def _text(self, value: object) -> str | None:
        text = str(value)
        if len(text) > MAX_CHARACTERS:
            self.flags.add("bad_values")
            return None
        return text.encode("utf-8", "replace").decode()  # a pickle may hold half a surrogate pair

    def _shape(self, value: object) -> tuple[int, tuple[tuple[int, ...], ...] | None]:
        if type(value) is not list or len(value) > MAX_ITEMS or not set(map(type, value)) <= {list, tuple}:
            return 1, None
        n_items = sum(map(len, value))
        if n_items > MAX_ITEMS:
            return 1, None
        sizes = list(chain.from_iterable(value))
        if not set(map(type, sizes)) <= {int} or (sizes and not 0 <= min(sizes) <= max(sizes) <= BIG):
            return 1, None
        return 1 + len(value) + n_items, tuple(map(tuple, value))

    def _types(self, value: object) -> tuple[int, tuple[str, ...] | None]:
        if type(value) is not list or len(value) > MAX_ITEMS or not set(map(type, value)) <= {str}:
            return 1, None
        return 1 + len(value), tuple(value) if max(map(len, value), default=0) <= MAX_CHARACTERS else None
