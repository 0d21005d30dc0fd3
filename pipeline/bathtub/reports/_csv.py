r"""CSV as vendors and spreadsheets can take it: RFC 4180, UTF-8, `\n`, times in UTC, no formulas.

A cell that begins with `=`, `+`, `-`, `@`, tab or carriage return and is no number gets a `'` in front, since a
spreadsheet would run it; how many were changed is counted in the manifest. Null is an empty field, empty text is `""`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

import polars as pl

_FORMULA = re.compile(r"^[=+\-@\t\r]")
_NUMBER = re.compile(r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$")
_QUOTED = re.compile(r'[",\r\n]')
SIGNIFICANT = 6


@dataclass(frozen=True)
class Report:
    """One CSV: its bytes, how many rows it has, and how many of its cells were guarded."""

    name: str
    content: bytes
    n_rows: int
    n_guarded: int


def write(name: str, frame: pl.DataFrame, columns: Sequence[str]) -> Report:
    """The frame as CSV in the given column order; a column that it lacks is empty."""
    guarded = 0
    lines = [",".join(columns)]
    for row in frame.iter_rows(named=True):
        cells = []
        for column in columns:
            text, changed = _cell(row.get(column))
            guarded += changed
            cells.append(text)
        lines.append(",".join(cells))
    return Report(name, ("\n".join(lines) + "\n").encode(), frame.height, guarded)


def _cell(value: object) -> tuple[str, bool]:
    if value is None:
        return "", False
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, pl.Series)):
        return _text(";".join(_plain(item) for item in value))
    return _plain(value), False


def _text(value: str) -> tuple[str, bool]:
    changed = bool(_FORMULA.match(value)) and not _NUMBER.match(value)
    value = ("'" + value if changed else value).replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if value == "" or _QUOTED.search(value):
        value = '"' + value.replace('"', '""') + '"'
    return value, changed


def _plain(value: object) -> str:
    """Numbers in fixed precision, times with Z, booleans in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format(value, f".{SIGNIFICANT}g") if value == value and abs(value) != float("inf") else ""  # noqa: PLR0124 - NaN
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").replace(".000000Z", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
