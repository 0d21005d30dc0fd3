"""From what a format read to frames of the declared shape."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl

from bathtub.ingest import Batch
from bathtub.schema import Table, table
from bathtub.source import Source

Row: TypeAlias = Mapping[str, object]

RAW_LIMIT = 4096
"""Characters of a record kept in a reject row."""


def conform(declared: Table, rows: pl.DataFrame | Sequence[Row], source: Source) -> pl.DataFrame:
    """A frame with exactly the declared columns: source_id and cluster stamped, what is missing null."""
    if isinstance(rows, pl.DataFrame):
        frame = rows
    else:
        schema = {name: kind for name, kind in declared.polars.items() if name not in ("source_id", "cluster")}
        frame = pl.DataFrame([[row.get(name) for name in schema] for row in rows], schema=schema, orient="row")
    stamped = frame.with_columns(source_id=pl.lit(source.source_id), cluster=pl.lit(source.cluster))
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in declared.polars.items() if name not in stamped.columns]
    return stamped.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in declared.polars.items())


def rejects(rows: Iterable[tuple[int, str, str]], format_name: str, source: Source) -> pl.DataFrame:
    """The rejects frame out of (line, reason, raw)."""
    declared = table("rejects")
    return pl.DataFrame(
        [(format_name, source.source_id, line, reason, raw[:RAW_LIMIT]) for line, reason, raw in rows],
        schema=declared.polars,
        orient="row",
    )


@dataclass
class Collector:
    """Rows and rejects of one batch as they come, and the batch they make."""

    format_name: str
    source: Source
    rows: dict[str, list[Row]] = field(default_factory=dict)
    rejected: list[tuple[int, str, str]] = field(default_factory=list)
    kept: int = 0

    def keep(self, table_name: str, row: Row) -> None:
        """One row; the caller counts the record in `kept`, since a record may give several rows."""
        self.rows.setdefault(table_name, []).append(row)

    def reject(self, line: int, reason: str, raw: str) -> None:
        """One rejected record."""
        self.rejected.append((line, reason, raw))

    def batch(self, read: int) -> Batch:
        """The batch of `read` records: what was neither kept nor rejected was out of scope."""
        frames = {name: conform(table(name), rows, self.source) for name, rows in self.rows.items()}
        n_rejected = len(self.rejected)
        return Batch(
            frames=frames,
            rejects=rejects(self.rejected, self.format_name, self.source),
            read=read,
            kept=self.kept,
            rejected=n_rejected,
            out_of_scope=read - self.kept - n_rejected,
        )
