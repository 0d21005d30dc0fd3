"""Frames of files that are being read, on disk until they are committed: large ones as the very files of the lake.

What a table gathers beyond WHOLE_ROWS is written as the lake's own Parquet, by day, which a commit only moves into place.
What is less waits as Arrow, and is joined with what other files of the batch have.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from uuid import uuid4

import polars as pl

from bathtub.schema import Table, table

WHOLE_ROWS = 1 << 17
"""Rows that are gathered for one set of files."""
FEW_ROWS = 1 << 15
"""Rows below which a file's rest waits for others."""
NO_DAY = "__HIVE_DEFAULT_PARTITION__"
LEVEL = 1


@dataclass(frozen=True)
class Part:
    """One Parquet file of a table: where it lies, its day, how many rows it has."""

    path: Path
    day: date | None
    n_rows: int

    @property
    def folder(self) -> str:
        """The partition's folder."""
        return f"event_day={self.day or NO_DAY}"


@dataclass
class Spool:
    """What one file gives, by table. One folder per file of a batch; `close` before it is read."""

    folder: Path
    _held: dict[str, list[pl.DataFrame]] = field(default_factory=dict, repr=False)

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Adds a frame of a lake table."""
        if frame.height:
            held = self._held.setdefault(name, [])
            held.append(frame)
            if sum(each.height for each in held) >= WHOLE_ROWS:
                self._write_whole(name)

    def close(self) -> None:
        """Writes what is still held."""
        for name in list(self._held):
            if sum(each.height for each in self._held[name]) >= FEW_ROWS:
                self._write_whole(name)
            else:
                target = self.folder / name
                target.mkdir(parents=True, exist_ok=True)
                pl.concat(self._held.pop(name)).write_ipc(target / "rest.arrow", compression="zstd")

    def _write_whole(self, name: str) -> None:
        for _ in write_parts(table(name), self._held.pop(name), self.folder / name):
            pass  # the files are the result

    def parts(self, name: str) -> list[Part]:
        """The finished files of a table."""
        return [_part(path) for path in sorted((self.folder / name).glob("event_day=*/*.parquet"))]

    def rest(self, name: str) -> pl.DataFrame | None:
        """The rows of a table that wait for others."""
        path = self.folder / name / "rest.arrow"
        return pl.read_ipc(path) if path.exists() else None

    def frames(self, name: str) -> Iterator[pl.DataFrame]:
        """All rows of a table, piece by piece, without event_day."""
        for part in self.parts(name):
            yield pl.read_parquet(part.path, hive_partitioning=False)
        rest = self.rest(name)
        if rest is not None:
            yield rest

    def drop(self) -> None:
        """Forgets everything."""
        self._held.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


def _part(path: Path) -> Part:
    day = path.parent.name.removeprefix("event_day=")
    n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    return Part(path, None if day == NO_DAY else date.fromisoformat(day), n_rows)


def with_day(declared: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the day that it is partitioned by."""
    day = pl.lit(None, dtype=pl.Date) if declared.day_of is None else pl.col(declared.day_of).dt.date()
    return frame.with_columns(event_day=day)


def write_parts(declared: Table, frames: Iterable[pl.DataFrame], folder: Path) -> Iterator[Part]:
    """Writes some rows of a table as Parquet below a folder, one file for each day of theirs.

    Raises ValueError for a null where the table has none: a fault of the format that made the row.
    """
    rows = pl.concat(frames)
    needed = [column.name for column in declared.columns if not column.null]
    counts = rows.select(pl.col(needed).null_count()).row(0, named=True)
    if any(counts.values()):
        raise ValueError(f"{declared.name} has nulls in {', '.join(name for name, n in counts.items() if n)}")
    for day, found in _by_day(with_day(declared, rows)):
        part = Part(folder / f"event_day={day or NO_DAY}" / f"{uuid4().hex}.parquet", day, found.height)
        part.path.parent.mkdir(parents=True, exist_ok=True)
        found.write_parquet(part.path, compression="zstd", compression_level=LEVEL, arrow_schema=declared.parquet)
        yield part


def _by_day(rows: pl.DataFrame) -> Iterator[tuple[date | None, pl.DataFrame]]:
    days = rows["event_day"]
    if days.n_unique() == 1:  # nothing to copy
        yield days[0], rows.drop("event_day")
        return
    for (day,), found in rows.partition_by("event_day", as_dict=True, include_key=False, maintain_order=True).items():
        yield day, found
