"""Which cluster a record is of, where an export of several (`-M all`, `-L`) names one in each.

The configured name holds for what the file is about; a record that names another cluster is that one's, and flagged
`other_cluster`. Slurm writes cluster names in lower case, so case does not matter. Where the configuration names no cluster,
the file is about the first that it names: whatever Slurm calls the only cluster, its jobs join the logs of its nodes.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import polars as pl

from bathtub.ingest import Batch
from bathtub.source import Settings, Source

FLAG = "other_cluster"


@dataclass
class Clusters:
    """The clusters that the records of one file name."""

    source: Source
    home: str | None = None
    named: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.source.cluster != Settings.cluster:
            self.home = self.source.cluster.lower()

    def others(self, names: Iterable[str | None]) -> set[str]:
        """Those of the names, in the order of their records, that are not the cluster that the file is about."""
        named = [name for name in names if name]
        if self.home is None and named:
            self.home = named[0].lower()
        return {name for name in named if name.lower() != self.home}

    def note(self, line: int, name: str | None) -> None:
        """The cluster that one record names."""
        for other in self.others([name]):
            self.named[line] = other

    def told(self, batch: Batch) -> Batch:
        """A batch with the clusters of its records that were noted, which are then forgotten."""
        if not self.named:
            return batch
        cell = pl.col("line").replace_strict(self.named, default=None, return_dtype=pl.String)
        others = set(self.named.values())
        frames = {name: with_cluster(frame.with_columns(Cluster=cell), others) for name, frame in batch.frames.items()}
        self.named = {}
        return replace(batch, frames=frames)


def with_cluster(rows: pl.DataFrame, others: Collection[str]) -> pl.DataFrame:
    """Rows of a table with its `cluster` and flags where the cell `Cluster` beside them is among the others."""
    cell = pl.col("Cluster").cast(pl.String)
    is_other = cell.is_in(list(others)).fill_null(value=False)
    return rows.with_columns(
        cluster=pl.when(is_other).then(cell).otherwise("cluster"),
        flags=pl.when(is_other).then(pl.col("flags").list.concat(pl.lit([FLAG]))).otherwise("flags"),
    ).drop("Cluster")
