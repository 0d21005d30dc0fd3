"""Lines of `sacct` to a frame of cells: as columns where a line is plainly one record, else one by one.

A line with exactly the header's delimiters and ids, a known state, times and numbers in their places is a record by
every rule of the exact splitter, and none can reach into it. So only the runs of other lines are split exactly, and with
them the line before such a run, or behind it, whose text may stand in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv

from bathtub.ingest._sacct_layout import LISTS, STRICT, Layout
from bathtub.ingest._sacct_records import Records, split_records

REPEATED = (
    "Suspended", "State", "ExitCode", "DerivedExitCode", "NNodes", "AllocNodes", "NodeList", "FailedNode", "AllocTRES", "ReqTRES",
    "ReqMem", "Timelimit", "TimelimitRaw", "Restarts", "Partition", "Account", "User", "QOS", "Reason",
    "Cluster",
)  # fmt: skip
"""Columns of few distinct values: kept as such, and read once per value."""
SINGLE = ("JobID", "JobIDRaw", "Submit", "Start", "End", "Elapsed", "ElapsedRaw", "JobName", "SubmitLine")
WANTED: dict[str, pl.DataType] = {**dict.fromkeys(SINGLE, pl.String()), **dict.fromkeys(REPEATED, pl.Categorical())}
EMPTY = pl.DataFrame(schema={"line": pl.Int64(), **WANTED})

Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Positions of lines, from 0."""
_UNIT_SEPARATOR = b"\x1f"
# A carriage return ends a line for the reader of columns, and it skips a byte order mark; text that was repaired is flagged.
_SPECIAL = (b"\r",)
_SPECIAL_WIDE = ("\ufeff".encode(), "\ufffd".encode())


@dataclass(frozen=True)
class Lines:
    """A text of whole lines in UTF-8, each with its line break."""

    text: bytes
    is_crlf: bool = False

    @cached_property
    def listed(self) -> list[str]:
        """The lines one by one."""
        lines = self.text.decode().split("\n")[:-1]
        return [line.removesuffix("\r") for line in lines] if self.is_crlf else lines

    @cached_property
    def n(self) -> int:
        """How many they are."""
        return self.text.count(b"\n")

    def between(self, start: int, end: int) -> list[str]:
        """Some of the lines; the last one alone is not looked for among all."""
        return Lines(self.behind(start), self.is_crlf).listed if start == self.n - 1 else self.listed[start:end]

    def behind(self, taken: int) -> bytes:
        """The text without its first lines."""
        return b"\n".join(self.text.rsplit(b"\n", self.n - taken + 1)[1:]) if taken else self.text


@dataclass
class Cells:
    """One row per record: `line` (of its first line) and the wanted columns, blank ones null.

    `raws` has the text of the records that were not plainly one line each.
    """

    frame: pl.DataFrame
    rejected: list[tuple[int, str, str]]
    n_out_of_scope: int
    taken: int
    lines: Lines = field(default_factory=lambda: Lines(b""))
    first_line: int = 1
    raws: Mapping[int, str] = field(default_factory=dict)

    def raw(self, line: int) -> str:
        """The text of the record that begins at a line."""
        return self.raws[line] if line in self.raws else self.lines.listed[line - self.first_line]


def split_cells(lines: Lines, layout: Layout, *, first_line: int, is_last: bool) -> Cells:
    """The records of the lines. Unless they are the last, a record that may go on behind them is not taken."""
    plain, odd = _plain(lines, layout, is_last=is_last) if lines.n else (EMPTY, np.array([], dtype=np.int64))
    found = _odd(lines, odd, layout, is_last=is_last)
    frame = pl.concat([plain, _frame(found, layout)]).sort("line") if found.kept else plain
    return Cells(
        frame.with_columns(pl.col("line") + first_line),
        [(first_line + at, reason, raw) for at, reason, raw in found.rejected],
        found.n_out_of_scope,
        found.taken,
        lines,
        first_line,
        {first_line + at: raw for at, _, raw in found.kept},
    )


def framed(rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    """Records as a frame of cells: `line` and whatever wanted columns they have."""
    schema = {"line": pl.Int64(), **dict.fromkeys(WANTED, pl.String())}
    frame = pl.DataFrame([[row.get(name) for name in schema] for row in rows], schema=schema, orient="row")
    return frame.with_columns(pl.col(name).cast(kind) for name, kind in WANTED.items())


def repaired(raws: Mapping[int, str]) -> list[int]:
    """The lines of the records that had undecodable bytes."""
    return [line for line, raw in raws.items() if "\ufffd" in raw]


def _frame(found: Records, layout: Layout) -> pl.DataFrame:
    """The cells of the exact splitter's records."""
    places = {name: _places(layout, name) for name in WANTED}
    return framed(
        {"line": at, **{name: next((cells[i] for i in where if cells[i]), None) for name, where in places.items()}}
        for at, cells, _ in found.kept
    )


def _places(layout: Layout, name: str) -> list[int]:
    """Where a column stands; a name may occur twice."""
    return [at for at, other in enumerate(layout.names) if other == name]


def _plain(lines: Lines, layout: Layout, *, is_last: bool) -> tuple[pl.DataFrame, Places]:
    """The records that are one line each, as columns, and the positions of the other lines."""
    parts, places = _columns(lines, layout)
    shapes = {**STRICT, **LISTS} if layout.is_shared else STRICT
    checks = [_fits(parts[str(at)], shapes[name]) for at, name in enumerate(layout.names) if name in shapes]
    if layout.is_trailing:
        checks.append(parts[str(len(layout.names))].is_null())
    is_plain = parts.select(pl.all_horizontal(pl.lit(each) for each in checks)).to_series()
    is_odd = np.ones(lines.n, dtype=bool)
    is_odd[places[is_plain.to_numpy()]] = False
    if layout.ends_in_text or layout.is_loose:
        is_odd[:-1] |= is_odd[1:].copy()
        is_odd[-1] |= not is_last
    if layout.opens_in_text:
        is_odd[1:] |= is_odd[:-1].copy()
    is_plain = pl.Series(~is_odd[places])
    wanted = parts.select(pl.lit(pl.Series("line", places)), *(_cell(_places(layout, name), name) for name in WANTED))
    return (wanted if is_plain.all() else wanted.filter(is_plain)), np.flatnonzero(is_odd)


def _fits(cells: pl.Series, shape: str) -> pl.Series:
    """Whether the cells have a shape."""
    if cells.dtype == pl.Categorical:
        values = cells.unique().cast(pl.String).fill_null("")
        unfit = values.filter(~values.str.contains(f"^(?:{shape})$"))
        return (
            ~cells.cast(pl.String).fill_null("").is_in(unfit.to_list()) if len(unfit) else pl.repeat(value=True, n=1, eager=True)
        )
    return cells.fill_null("").str.contains(f"^(?:{shape})$")


def _columns(lines: Lines, layout: Layout) -> tuple[pl.DataFrame, Places]:
    """The columns, named by their places, of the lines with exactly the header's delimiters; and where those lines are.

    The reader of columns tells what it could not split. What it would read otherwise than we do is made unsplittable.
    """
    delimiter, n_columns = layout.delimiter.encode(), layout.n_delimiters + 1
    text = lines.text.replace(b"\r\n", b"\n") if lines.is_crlf else lines.text
    special = (*_SPECIAL, *(() if text.isascii() else _SPECIAL_WIDE), *(() if len(delimiter) == 1 else (_UNIT_SEPARATOR,)))
    for each in special:
        if each != delimiter and each in text:
            text = text.replace(each, delimiter * n_columns)
    if len(delimiter) > 1:
        text, delimiter = text.replace(delimiter, _UNIT_SEPARATOR), _UNIT_SEPARATOR
    unsplit: list[int] = []

    def note(row: csv.InvalidRow) -> str:
        unsplit.append(row.number - 1)
        return "skip"

    types = {
        str(at): pa.dictionary(pa.int32(), pa.string()) if name in REPEATED else pa.string()
        for at, name in enumerate((*layout.names, "") if layout.is_trailing else layout.names)
        if name in WANTED or name in STRICT or name in LISTS or not name
    }
    table = csv.read_csv(
        pa.BufferReader(text),
        csv.ReadOptions(column_names=[str(at) for at in range(n_columns)], use_threads=False, block_size=max(len(text), 1)),
        csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False, ignore_empty_lines=False, invalid_row_handler=note),
        csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True),
    )
    assert table.num_rows + len(unsplit) == lines.n, (table.num_rows, len(unsplit), lines.n)
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found, np.delete(np.arange(lines.n), unsplit)


def _cell(places: list[int], name: str) -> pl.Expr:
    """The first cell that is not blank, null without one."""
    return pl.coalesce([pl.col(str(place)).cast(WANTED[name]) for place in places] or pl.lit(None, WANTED[name])).alias(name)


def _odd(lines: Lines, odd: Places, layout: Layout, *, is_last: bool) -> Records:
    """The records of the runs of lines that are not plain; only the last run may have to wait for more lines."""
    total = Records(taken=lines.n)
    for run in np.split(odd, np.flatnonzero(np.diff(odd) > 1) + 1) if len(odd) else []:
        start, end = int(run[0]), int(run[-1]) + 1
        found = split_records(lines.between(start, end), layout, is_last=is_last or end < lines.n)
        total.kept += [(start + at, cells, raw) for at, cells, raw in found.kept]
        total.rejected += [(start + at, reason, raw) for at, reason, raw in found.rejected]
        total.n_out_of_scope += found.n_out_of_scope
        total.taken = start + found.taken if end == lines.n else total.taken
    return total
