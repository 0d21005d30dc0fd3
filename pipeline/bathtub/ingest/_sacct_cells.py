"""Lines of `sacct` to a frame of cells: as columns where a line is plainly one record, else one by one.

A line with exactly the header's delimiters and ids, a known state, times and numbers in their places is a record by
every rule of the exact splitter, and none can reach into it. So only the runs of other lines are split exactly.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from bathtub.ingest._sacct_layout import STRICT, Layout
from bathtub.ingest._sacct_records import Records, split_records

WANTED = (
    "JobID", "JobIDRaw", "Submit", "Start", "End", "Elapsed", "ElapsedRaw", "Suspended", "State", "ExitCode", "DerivedExitCode",
    "NNodes", "AllocNodes", "NodeList", "FailedNode", "AllocTRES", "ReqTRES", "ReqMem", "Timelimit", "TimelimitRaw", "Restarts",
    "Partition", "Account", "User", "QOS", "JobName", "Reason", "SubmitLine",
)  # fmt: skip
EMPTY = pl.DataFrame(schema={"line": pl.Int64(), "raw": pl.String(), **dict.fromkeys(WANTED, pl.String())})


@dataclass
class Cells:
    """One row per record: `line` (of its first line), `raw`, and the wanted columns, blank ones null."""

    frame: pl.DataFrame
    rejected: list[tuple[int, str, str]]
    n_out_of_scope: int
    taken: int


def split_cells(lines: list[str], layout: Layout, *, first_line: int, is_last: bool) -> Cells:
    """The records of the lines. Unless they are the last, a record that may go on behind them is not taken."""
    plain = _plain(lines, layout)
    found = _odd(lines, plain["line"].to_numpy(), layout, is_last=is_last)
    frame = pl.concat([plain, _frame(found, layout)]).sort("line") if found.kept else plain
    return Cells(
        frame.with_columns(pl.col("line") + first_line),
        [(first_line + at, reason, raw) for at, reason, raw in found.rejected],
        found.n_out_of_scope,
        found.taken,
    )


def _frame(found: Records, layout: Layout) -> pl.DataFrame:
    """The cells of the exact splitter's records."""
    places = [_places(layout, name) for name in WANTED]
    rows = [(at, raw, *(next((cells[i] for i in where if cells[i]), None) for where in places)) for at, cells, raw in found.kept]
    return pl.DataFrame(rows, schema=EMPTY.schema, orient="row")


def _places(layout: Layout, name: str) -> list[int]:
    """Where a column stands; a name may occur twice."""
    return [at for at, other in enumerate(layout.names) if other == name]


def _plain(lines: list[str], layout: Layout) -> pl.DataFrame:
    """The records that are one line each, as columns."""
    n = layout.n_delimiters
    full = pl.DataFrame({"raw": pl.Series(lines, dtype=pl.String)}).with_row_index("line").cast({"line": pl.Int64})
    full = full.filter(pl.col("raw").str.count_matches(layout.delimiter, literal=True) == n)
    parts = full.hstack(full["raw"].str.split_exact(layout.delimiter, n).struct.unnest())
    checks = [
        pl.col(f"field_{at}").str.contains(f"^(?:{STRICT[name]})$") for at, name in enumerate(layout.names) if name in STRICT
    ]
    if layout.is_trailing:
        checks.append(pl.col(f"field_{n}") == "")
    wanted = parts.select("line", "raw", *(_cell(_places(layout, name), name) for name in WANTED))
    is_plain = parts.select(pl.all_horizontal(checks)).to_series()
    return wanted if is_plain.all() else wanted.filter(is_plain)


def _cell(places: list[int], name: str) -> pl.Expr:
    """The first cell that is not blank, null without one."""
    if not places:
        return pl.lit(None, dtype=pl.String).alias(name)
    filled = [pl.when(pl.col(f"field_{place}") != "").then(pl.col(f"field_{place}")) for place in places]
    return pl.coalesce(filled).alias(name)


def _odd(lines: list[str], plain: np.ndarray[tuple[int], np.dtype[np.int64]], layout: Layout, *, is_last: bool) -> Records:
    """The records of the runs of lines that are not plain; only the last run may have to wait for more lines."""
    is_odd = np.ones(len(lines), dtype=bool)
    is_odd[plain] = False
    places = np.flatnonzero(is_odd)
    total = Records(taken=len(lines))
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []:
        start, end = int(run[0]), int(run[-1]) + 1
        found = split_records(lines[start:end], layout, is_last=is_last or end < len(lines))
        total.kept += [(start + at, cells, raw) for at, cells, raw in found.kept]
        total.rejected += [(start + at, reason, raw) for at, reason, raw in found.rejected]
        total.n_out_of_scope += found.n_out_of_scope
        total.taken = start + found.taken if end == len(lines) else total.taken
    return total
