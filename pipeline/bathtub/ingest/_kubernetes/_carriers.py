"""What carries objects: lists, records of a watch, documents one after the other; each object put together from its pieces.

A document is an object, a record of a watch, a list of objects (`items`), or an array of them. Members of a list are handed
out as they are read, so that memory does not depend on its length; what they leave out (kind and version, where the list is of
one kind) is what the list says, even where it says it behind them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from bathtub.ingest import Batch
from bathtub.ingest._kubernetes import mapping, take, text
from bathtub.ingest._messages import of_emitter
from bathtub.ingest._rows import RAW_LIMIT, Collector
from bathtub.source import Source

BATCH_RECORDS = 5000
MAX_OBJECT = 8 << 20
VALUE_WEIGHT = 32
WATCHED = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})
IDENTITY = ("apiVersion", "kind")

Open: TypeAlias = dict[str, object] | list[object]
Piece: TypeAlias = tuple[str, object]
"""(event, value) in the words of ijson: start_map, map_key, end_map, start_array, end_array, or the type of a value."""

_ENCODER = msgspec.json.Encoder(decimal_format="number", order="deterministic")


@dataclass(frozen=True)
class Found:
    """One object and the line that it begins on; or what stands in the place of one, and why it is rejected."""

    line: int
    value: object
    reason: str | None = None


class Documents:
    """Objects out of the pieces of documents, in `found` as they are complete; `head` is the last document without its members.

    `identity(n)` reads ahead what the n-th document (from 0) says of its kind and version.
    """

    def __init__(self, identity: Callable[[int], Mapping[str, object]]) -> None:
        self.found: list[Found] = []
        self.n_done = 0
        self.head: object = None
        self._identity = identity
        self._restart()

    def _restart(self) -> None:
        self._open: list[Open] = []
        self._keys: list[str] = []
        self._items: Open | None = None
        self._weight = self._line = 0

    @property
    def is_in_list(self) -> bool:
        """Whether the pieces so far end within a list of objects."""
        return self._items is not None

    def feed(self, event: str, value: object, line: int = 0) -> None:
        """The next piece, and the line that it stands on."""
        if event == "map_key":
            self._keys[-1] = str(value)
            self._weight += len(self._keys[-1])
        elif event in ("start_map", "start_array"):
            self._start({} if event == "start_map" else [], line)
        elif event in ("end_map", "end_array"):
            self._keys.pop()
            self._put(self._open.pop())
        else:
            if not self._open or self._open[-1] is self._items:
                self._begin(line)
            self._weight += len(value) if isinstance(value, str) else 0
            self._put(value)

    def _begin(self, line: int) -> None:
        self._line, self._weight = line, 0

    def _start(self, opened: Open, line: int) -> None:
        is_outermost, is_member = not self._open, bool(self._open) and self._open[-1] is self._items
        if is_outermost or is_member:
            self._begin(line)
        is_of_list = len(self._open) == 1 and self._keys[0] == "items" and isinstance(self._open[0], dict)
        if isinstance(opened, list) and (is_outermost or is_of_list):
            self._items = opened
        self._open.append(opened)
        self._keys.append("")

    def _put(self, value: object) -> None:
        """A value that is complete, to where it belongs."""
        self._weight += VALUE_WEIGHT
        holder = self._open[-1] if self._open else None
        if holder is None:
            self._end(value)
        elif holder is self._items:
            self._hand_out(self._named(value))
        elif self._weight > MAX_OBJECT:
            return
        elif isinstance(holder, dict):
            holder[self._keys[-1]] = value
        else:
            holder.append(value)

    def _end(self, value: object) -> None:
        """The end of a document: a list was handed out by its members, and one without members is no object."""
        is_empty_list = isinstance(value, dict) and value.get("items", self) is None and str(value.get("kind")).endswith("List")
        if not self.is_in_list and not is_empty_list:
            self._hand_out(value)
        self.head = value
        self.n_done += 1
        self._restart()

    def _hand_out(self, value: object) -> None:
        is_too_large = self._weight > MAX_OBJECT
        self.found.append(Found(self._line, "", "object_too_large") if is_too_large else Found(self._line, value))
        self._weight = 0

    def _named(self, value: object) -> object:
        """A member of a list with kind and version, those of the list where it has none of its own."""
        head = self._open[0]
        if not isinstance(value, dict) or not isinstance(head, dict) or all(key in value for key in IDENTITY):
            return value
        told = head if all(key in head for key in IDENTITY) else self._identity(self.n_done)
        kind = text(told.get("kind")) or ""
        bare = kind.removesuffix("List")
        return {**({"apiVersion": told.get("apiVersion"), "kind": bare} if bare and bare != kind else {}), **value}


def identities(pieces: Iterable[Piece]) -> Sequence[Mapping[str, object]]:
    """Kind and version of each document, empty where it is no map or leaves them out."""
    found: list[dict[str, object]] = []
    depth, key = 0, ""
    for event, value in pieces:
        if depth == 0:
            found.append({})
        if event in ("start_map", "start_array"):
            depth += 1
        elif event in ("end_map", "end_array"):
            depth -= 1
        elif event == "map_key":
            key = str(value) if depth == 1 else key
        elif depth == 1 and key in IDENTITY:
            found[-1][key] = value
    return found


class Records:
    """The records of one file on their way to batches. A record is an object, or what stands in the place of one."""

    def __init__(self, format_name: str, source: Source) -> None:
        self._format_name, self._source = format_name, source
        self._collector, self._n_read = Collector(format_name, source), 0

    @property
    def is_full(self) -> bool:
        """Whether it is time for a batch."""
        return self._n_read >= BATCH_RECORDS

    def take(self, line: int, found: Found) -> None:
        """The rows of one object. A bookmark of a watch is the version of a list and no object: out of scope."""
        self._n_read += 1
        watched = mapping(found.value)
        is_watched = text(watched.get("type")) in WATCHED and "object" in watched and "kind" not in watched
        if found.reason is not None:
            self._collector.reject(line, found.reason, str(found.value)[:RAW_LIMIT])
        elif not is_watched:
            take(self._collector, line, found.value, shown(found.value))
        elif watched["type"] != "BOOKMARK":
            take(self._collector, line, watched["object"], shown(watched["object"]))

    def batch(self) -> Batch:
        """What was read since the batch before."""
        batch = self._collector.batch(self._n_read)
        self._collector, self._n_read = Collector(self._format_name, self._source), 0
        return batch


def shown(value: object) -> str:
    """An object as JSON, keys in order so that every export of it shows the same, cut at RAW_LIMIT characters."""
    return _ENCODER.encode(value).decode()[:RAW_LIMIT]


def version() -> str:
    """The version of a format that carries objects: it includes those of the grammars that read kernel lines out of events."""
    versions = ",".join(f"{grammar.name}={grammar.version}" for grammar in of_emitter("kernel"))
    return f"1+{blake2b(versions.encode(), digest_size=4).hexdigest()}"
