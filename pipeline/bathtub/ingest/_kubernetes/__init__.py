"""Kinds of Kubernetes objects: what is read of an object, whatever carries it (JSON or YAML, a list, a stream or alone).

A kind is one module of this package that exports KIND, found by walking it. An object is routed by its kind and the group of
its `apiVersion` (empty for core); objects of other kinds are out of scope.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from bathtub.ingest._rows import RAW_LIMIT, Collector
from bathtub.schema import Table


@dataclass(frozen=True)
class Thing:
    """One object: where it stands in its file, its kind, its group and version, and all its fields."""

    line: int
    kind: str
    group: str
    version: str
    fields: Mapping[str, object]
    raw: str

    @property
    def metadata(self) -> Mapping[str, object]:
        """The object's metadata, empty where there is none."""
        return mapping(self.fields.get("metadata"))


@dataclass(frozen=True)
class Kind:
    """What objects of some kinds say.

    `kinds` are (group, kind). `keep(collector, thing)` keeps the rows of one object and gives None, or why it is rejected.
    """

    kinds: frozenset[tuple[str, str]]
    tables: tuple[Table, ...]
    keep: Callable[[Collector, Thing], str | None]


@cache
def kinds() -> Mapping[tuple[str, str], Kind]:
    """Every kind that is read, by group and name."""
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: Iterable[Kind] = (importlib.import_module(f"{__name__}.{name}").KIND for name in modules)
    return {key: kind for kind in found for key in kind.kinds}


def tables_of_kinds() -> tuple[Table, ...]:
    """The tables that objects give rows of, in order of names."""
    found = {each.name: each for kind in kinds().values() for each in kind.tables}
    return tuple(found[name] for name in sorted(found))


def mapping(value: object) -> Mapping[str, object]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> tuple[Mapping[str, object], ...]:
    """The objects of a list, empty where it is none."""
    return tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else ()


def text(value: object) -> str | None:
    """A text that is not blank, cut at RAW_LIMIT characters (the server takes 1024 in a message); None for anything else."""
    return value[:RAW_LIMIT].strip() or None if isinstance(value, str) else None


def number(value: object) -> int | None:
    """A whole number that fits 64 bits; None for anything else."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if is_whole and abs(int(value)) < 1 << 63 else None  # type: ignore[call-overload]


def take(collector: Collector, line: int, found: object, raw: str) -> None:
    """The rows of one object, or its reject. Objects of kinds that nobody reads are out of scope."""
    fields = mapping(found)
    api, kind = text(fields.get("apiVersion")), text(fields.get("kind"))
    if api is None or kind is None:
        collector.reject(line, "bad_object", raw)
        return
    group, _, version = api.rpartition("/")
    known = kinds().get((group, kind))
    if known is None:
        return
    reason = known.keep(collector, Thing(line, kind, group, version, fields, raw[:RAW_LIMIT]))
    if reason is None:
        collector.kept += 1
    else:
        collector.reject(line, reason, raw)
