"""Tables that Slurm's commands print: a header, then rows by a delimiter or by columns of blanks. Nothing is escaped.

A row with more cells than names keeps them where exactly one column is free text: that one holds the surplus.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bathtub.ingest._lines import numbered_lines
from bathtub.ingest._rows import RAW_LIMIT
from bathtub.source import Quarantine, Source

_DATED = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\s*")
_MESSAGE = re.compile(r"(?:s[a-z]{3,8}): (?:error|fatal|debug\d?|info): ")
# NODELIST|STATE   NODES(A/I) |REASON   JOBID|#NAME   and the unit separator, which is no blank here
_DELIMITER = re.compile(r"[A-Za-z0-9_)][ \t]*([^ \tA-Za-z0-9_()/:.%#-]{1,4}#?)[ \t]*[A-Za-z0-9_]")


@dataclass(frozen=True)
class Layout:
    """The names of the columns in order, the delimiter (None is blanks), and which columns may hold blanks and anything."""

    names: tuple[str, ...]
    delimiter: str | None
    free: frozenset[str]

    def cells(self, line: str) -> dict[str, str] | None:
        """The cells by name, stripped; None for a misfit.

        A name that occurs twice has its first cell that is not blank; the second cell stands under the name with `#2` behind.
        """
        parts = line.split() if self.delimiter is None else [part.strip() for part in line.split(self.delimiter)]
        if len(parts) == len(self.names) + 1 and self.delimiter is not None and not parts[-1]:
            parts = parts[:-1]
        if len(parts) > len(self.names):
            parts = self._rejoined(line)
        if len(parts) != len(self.names):
            return None
        found: dict[str, str] = {}
        for name, part in zip(self.names, parts, strict=True):
            if name in found:
                found.setdefault(f"{name}#2", part)
            found[name] = found.get(name) or part
        return found

    def _rejoined(self, line: str) -> list[str]:
        """The cells with the surplus in the one free column; none where there is no such column, or several.

        Between blanks the last column is the one where its cell opens a bracket: a reason stands in front of nothing.
        """
        places = [at for at, name in enumerate(self.names) if name in self.free]
        if self.delimiter is None and len(places) > 1 and places[-1] == len(self.names) - 1:
            parts = line.split(None, places[-1])
            return parts if parts[-1].startswith("(") and parts[-1].rstrip().endswith(")") else []
        if len(places) != 1:
            return []
        left = line.split(self.delimiter, places[0])
        right = left.pop().rsplit(self.delimiter, len(self.names) - places[0] - 1)
        return [part.strip() for part in (*left, *right)]


@dataclass(frozen=True)
class Record:
    """One row: the number of its line, its cells by name (null where it does not fit the header), and its text."""

    line: int
    cells: dict[str, str] | None
    raw: str
    reason: str | None = None


def header(line: str, delimiter: str | None, free: frozenset[str]) -> Layout:
    """The layout that a header line tells; the delimiter is found in it unless it is given."""
    found = _DELIMITER.search(line)
    mark = delimiter or (found[1] if found else None)
    parts = line.split() if mark is None else [part.strip() for part in line.split(mark)]
    if mark is not None and parts and not parts[-1]:
        parts = parts[:-1]
    return Layout(tuple(parts), mark, free)


def opening(head: bytes, free: frozenset[str]) -> Layout | None:
    """The layout that the first line of a head tells, a date in front of it and messages of the client left out."""
    for line in head.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")[:20]:
        if line.strip() and not _DATED.fullmatch(line.rstrip("\r")) and not _MESSAGE.match(line):
            return header(line.rstrip("\r"), None, free)
    return None


def records(source: Source, free: frozenset[str], known: frozenset[str]) -> Iterator[Record]:
    """The rows of a table; out of scope (no cells, no reason) are messages of the client, dates and repeated headers.

    Blank lines and the first header are not counted. Names come from the configuration, else from the first line; raises
    Quarantine(`columns_required`) where that has none of the `known` names.
    """
    layout: Layout | None = None
    if source.settings.columns:
        layout = Layout(source.settings.columns, source.settings.delimiter, free)
    shape: tuple[str, ...] | None = None
    for number, line, is_cut in numbered_lines(source):
        if not line.strip():
            continue
        if _DATED.fullmatch(line) or _MESSAGE.match(line):
            yield Record(number, None, line)
        elif layout is None:
            layout = header(line, source.settings.delimiter, free)
            shape = layout.names
            if not known & set(shape):
                raise Quarantine("columns_required", "it opens with no header: name its columns in the configuration")
        elif shape is not None and header(line, layout.delimiter, free).names == shape:
            yield Record(number, None, line)
        else:
            cells = None if is_cut else layout.cells(line)
            reason = "line_too_long" if is_cut else None if cells else "field_count"
            yield Record(number, cells, line[:RAW_LIMIT], reason)
