"""Planned windows, written by hand as CSV.

    nodes,started_at,ended_at,reason,cluster
    "n[001-016],gpu5",2026-03-01 08:00,2026-03-01 12:00,firmware of the switches,

Any order of columns, and comma, semicolon or tab between them. `nodes` is a host list, or `node` a name; `started_at`
and `ended_at` may be spelled `start` and `end`, with `_utc` behind where the times are UTC; other times without a zone
have the source's. A cell of `cluster` overrides the source's cluster. Further columns are kept as JSON text in `extra`.
A record is a row and gives one row per node; blank rows and the header are not counted.

Rejects: field_count, bad_nodes, bad_start_time, bad_end_time (both must have a time of day), ends_before_start.
Quarantine: zone_required, bad_csv, file_too_large.
"""

import re
from collections.abc import Iterator

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._handwritten import Record, first_line, header_of, moment, records, spelling, worst
from bathtub.ingest._hostlist import NO_NODE, expand_nodes
from bathtub.ingest._rows import Row, conform, rejects
from bathtub.schema import table
from bathtub.source import Source

STARTS, ENDS = ("started_at", "start", "start_at"), ("ended_at", "end", "end_at")
BATCH_ROWS = 100_000
MAINTENANCE = table("maintenance")
_DAY_ONLY = re.compile(r"[0-9-]*$")


def _claims(head: bytes, _name: str) -> bool:
    names, _ = header_of(first_line(head.decode("utf-8", "replace")))
    columns = dict.fromkeys(names, "")
    has_times = spelling(columns, *STARTS) is not None and spelling(columns, *ENDS) is not None
    return has_times and ("nodes" in columns) != ("node" in columns) and "device_class" not in columns


def _rows(record: Record, source: Source) -> list[Row] | str:
    """One row per node of a window, or why there is none."""
    if not record.is_complete:
        return "field_count"
    node_list = record.text("nodes") or record.text("node") or ""
    nodes = None if node_list in NO_NODE else expand_nodes(node_list)
    if nodes is None:
        return "bad_nodes"
    start, end = (None if _is_day(record, names) else moment(record, source, *names) for names in (STARTS, ENDS))
    if start is None or start.at is None:
        return "bad_start_time"
    if end is None or end.at is None:
        return "bad_end_time"
    if end.at < start.at:
        return "ends_before_start"
    used = {column[0] for names in (STARTS, ENDS) if (column := spelling(record.cells, *names))}
    shared = {
        "line": record.line,
        "cluster": record.text("cluster") or source.cluster,
        "seen_at": start.at,
        "time_source": "file",
        "time_quality": worst(start, end),
        "started_at": start.at,
        "ended_at": end.at,
        "reason": record.text("reason"),
        "extra": record.further({"node", "nodes", "reason", "cluster", *used}),
    }
    return [{**shared, "node": node} for node in nodes]


def _is_day(record: Record, names: tuple[str, ...]) -> bool:
    """Whether a time is a bare date: it would leave open whether that day is still within."""
    column = spelling(record.cells, *names)
    return column is not None and _DAY_ONLY.match(record.text(column[0]) or "") is not None


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of a table."""
    rows: list[Row] = []
    refused: list[tuple[int, str, str]] = []
    n_kept = 0
    for record in records(source):
        found = _rows(record, source)
        if isinstance(found, str):
            refused.append((record.line, found, record.raw))
            continue
        rows += found
        n_kept += 1
        if len(rows) >= BATCH_ROWS:
            yield _batch(rows, refused, n_kept, source)
            rows, refused, n_kept = [], [], 0
    yield _batch(rows, refused, n_kept, source)


def _batch(rows: list[Row], refused: list[tuple[int, str, str]], n_kept: int, source: Source) -> Batch:
    clusters = pl.Series("cluster", [row["cluster"] for row in rows], dtype=pl.String)
    frame = conform(MAINTENANCE, rows, source).with_columns(clusters)
    refusals = rejects(refused, FORMAT.name, source)
    return Batch({"maintenance": frame}, refusals, n_kept + len(refused), n_kept, len(refused), 0)


FORMAT = Format("maintenance_csv", "1", "a row", (MAINTENANCE,), _claims, _parse, on_change="replaces")
