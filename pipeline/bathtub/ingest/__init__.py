"""Format and Batch: the contract of every reader, how readers are found, and who may claim a file.

A format is one module of this package that exports FORMAT. It is found by walking the package; a module that
fails to import fails the run. Exactly one format may claim a file; none or two is a counted outcome.
"""

import codecs
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from bathtub.schema import Table
from bathtub.source import Quarantine, Source

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Batch", "Format", "Quarantine", "Source", "claim", "claimants", "formats"]


@dataclass(frozen=True)
class Batch:
    """Some MiB of one source at most: frames by table, rejects, and where each record of it went.

    Frames have the columns of their `Table` in order (without event_day); `rejects` those of the table of that
    name. read = kept + rejected + out_of_scope, in records; one record may give rows of several tables.
    """

    frames: "Mapping[str, pl.DataFrame]"
    rejects: "pl.DataFrame"
    read: int
    kept: int
    rejected: int
    out_of_scope: int

    def __post_init__(self) -> None:
        if self.read != self.kept + self.rejected + self.out_of_scope:
            message = f"{self.read} read, but {self.kept} + {self.rejected} + {self.out_of_scope} accounted for"
            raise ValueError(message)


@dataclass(frozen=True)
class Format:
    """One kind of file.

    `claims(head, name)` sees the first 64 KiB of content and the path below the inbox; it is strict and prefers
    to say no. `parse(source)` yields batches; it may raise Quarantine, and then nothing of the file is kept.
    `record` says what is counted. `on_change` says what other content at the same full path means: `adds` (logs,
    exports, dumps) or `replaces` (hand-written tables, snapshots). `rows_span_records` where several records make one row.
    """

    name: str
    version: str
    record: str
    tables: tuple[Table, ...]
    claims: Callable[[bytes, str], bool]
    parse: Callable[[Source], Iterator[Batch]]
    on_change: Literal["adds", "replaces"] = "adds"
    name_carries_data: bool = False
    rows_span_records: bool = False


@cache
def formats() -> dict[str, Format]:
    """Every format by name, found by walking this package's public modules."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if not module.name.startswith("_"):
            exported: Format = importlib.import_module(f"{__name__}.{module.name}").FORMAT
            found[exported.name] = exported
    return found


def claimants(head: bytes, name: str) -> list[Format]:
    """The formats that claim a file with this head and path, in order of their names."""
    return [known for known in formats().values() if known.claims(head, name)]


def claim(head: bytes, name: str, forced: str | None = None) -> Format:
    """The one format of a file. Raises Quarantine: unknown_format, empty_file, unclaimed or claimed_twice."""
    if forced is not None:
        if forced not in formats():
            raise Quarantine("unknown_format", f"no format {forced!r}; there are {', '.join(formats())}")
        return formats()[forced]
    found = claimants(head, name)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(each.name for each in found)
        raise Quarantine("claimed_twice", f"claimed by {names}: name the format in the configuration")
    if not head:
        raise Quarantine("empty_file", "the file has no content: check what should have written it")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Quarantine("unclaimed", "it is text in UTF-16: convert it to UTF-8")
    raise Quarantine(
        "unclaimed", "no format claims it: name the format and its columns in the configuration if it is one we read"
    )
