"""Tables that people write by hand: columns by name in any order, comma, semicolon or tab between, extra ones kept."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bathtub.ingest._times import UNKNOWN, Stamp, iso
from bathtub.source import Quarantine, Source

LIMIT = 64 << 20
QUALITIES = ("exact", "derived", "observation", "ambiguous", "future", "unknown")
"""From the most to the least that a time can be trusted."""

# 2026-03-01    2026-03-01 08:00    2026-03-01T08:00Z
_SHORT_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?(Z|[+-]\d\d:?\d\d)?$", re.ASCII)
_SANE_YEAR = re.compile(r"19[7-9]|2[01]")


@dataclass(frozen=True)
class Record:
    """One row: the line it begins in, its cells by column name, and the cells as one text."""

    line: int
    cells: Mapping[str, str]
    raw: str
    is_complete: bool

    def text(self, column: str) -> str | None:
        """A cell without blanks around it; None where it is blank or there is no such column."""
        return self.cells.get(column, "").strip() or None

    def further(self, known: set[str]) -> str | None:
        """The cells of all other columns as JSON text; None where they are blank."""
        other = {name: value.strip() for name, value in self.cells.items() if name not in known and value.strip()}
        return json.dumps(other, ensure_ascii=False) if other else None


def header_of(line: str) -> tuple[tuple[str, ...], str]:
    """The column names of a first line, lower case with `_` for blanks, and the delimiter that gives the most."""
    splits = [(tuple(_name(cell) for cell in line.split(each)), each) for each in ",;\t"]
    return max(splits, key=lambda split: len(split[0]))


def _name(cell: str) -> str:
    return cell.strip().strip('"').lower().replace(" ", "_")


def first_line(text: str) -> str:
    """The header line of a file that may open with a byte order mark."""
    return text.removeprefix("\ufeff").split("\n", 1)[0].removesuffix("\r")


def records(source: Source) -> Iterator[Record]:
    """The rows of a file that are not blank. Raises Quarantine(`bad_csv`) for a quote that is never closed."""
    text = source.read(LIMIT).decode("utf-8", "replace").removeprefix("\ufeff")
    names, delimiter = header_of(first_line(text))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    done = 0
    try:
        for number, row in enumerate(rows):
            line, done = done + 1, rows.line_num
            if number and any(cell.strip() for cell in row):
                surplus = any(cell.strip() for cell in row[len(names) :])
                cells = dict(zip(names, row, strict=False))
                yield Record(line, cells, delimiter.join(row), len(row) >= len(names) and not surplus)
    except csv.Error as error:
        raise Quarantine("bad_csv", f"line {rows.line_num}: {error}: look for a quote that is not closed") from error


def spelling(names: Mapping[str, str], *spellings: str) -> tuple[str, bool] | None:
    """The column under the first of its spellings that is there, and whether it says UTC."""
    for each in spellings:
        for name, is_utc in ((f"{each}_utc", True), (each, False)):
            if name in names:
                return name, is_utc
    return None


def moment(record: Record, source: Source, *spellings: str) -> Stamp | None:
    """The time in a column of one of these spellings; None where it is blank. Without a zone it has the source's."""
    column = spelling(record.cells, *spellings)
    text = record.text(column[0]) if column else None
    if column is None or text is None:
        return None
    if not _SANE_YEAR.match(text):
        return UNKNOWN
    short = _SHORT_TIME.match(text)
    if short is not None:
        text = f"{short[1]}T{short[2] or '00:00'}:00{short[3] or ''}"
    stamp = iso(f"{text}Z", source) if column[1] else UNKNOWN
    return stamp if stamp.at is not None else iso(text, source)


def worst(*stamps: Stamp | None) -> str:
    """The least that any of the times can be trusted."""
    return max((stamp.quality for stamp in stamps if stamp is not None), key=QUALITIES.index, default="unknown")
