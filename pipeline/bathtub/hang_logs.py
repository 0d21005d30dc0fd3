"""What the lines of a hung job tell where it left no dump: the verdict of `bathtub hang` from logs alone.

The same ingest and SQL as the nightly run, over files that need no lake, all taken as one set.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from bathtub import knowledge
from bathtub.adhoc import read_all
from bathtub.config import Config
from bathtub.nightly import parameters
from bathtub.warehouse import build, connect

TABLES = frozenset({"nccl_events", "placements"})


def hang_from_logs(paths: Iterable[Path]) -> tuple[Mapping[str, object] | None, dict[str, str]]:
    """The row of `int_log_verdicts` over these files and folders, and the name of each source.

    None where no line tells anything. Files that no format reads are passed over. Raises OSError.
    """
    config = Config()
    frames, _ = read_all(list(paths), config)
    sources = frames["sources"]
    names = dict(sources.select("source_id", "full_name").iter_rows())
    inputs = {name: frame for name, frame in frames.items() if name in TABLES} | {"sources": sources}
    inputs |= {"stg_log_sets": _one_set(sources), "parameters": parameters(config), **knowledge.tables()}
    with connect() as con:
        build(con, inputs, ["int_log_verdicts"])
        rows = con.table("int_log_verdicts").pl().to_dicts()
    return rows[0] if rows else None, names


def _one_set(sources: pl.DataFrame) -> pl.DataFrame:
    """All sources in one set of lines, whatever their folders."""
    job_id = pl.lit(None, pl.String()).alias("job_id")
    return sources.select("source_id", "cluster", job_id, pl.lit(".").alias("log_set"))
