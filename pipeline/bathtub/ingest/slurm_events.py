r"""Text of Slurm's `sacctmgr show event -P`: since when, until when and why nodes were out of use, out of the accounting.

    TZ=UTC SLURM_TIME_FORMAT=%s sacctmgr -P show event All_Time format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason,User
    Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
    hpc|gpu-03|1772352005|1772355605|DOWN*|Not responding|slurm(1000)

Written by Slurm 20.11 to 26.05. Columns are found by the names of the header (Event and EventRaw besides; any order); text
without one needs the format and its columns in the configuration. A record is a row and gives one row per node; rows of the
cluster itself (NodeName blank), repeated headers and messages of the client are out of scope. A row is open while TimeEnd is
`Unknown`. **Every change of a flag or of the reason closes a row and opens another**: rows are no outages, `sql/` joins them.

Times are epoch seconds, or local without a zone (then the source must have one), or with their own offset. The default window
of the command is one day: ask for `All_Time` or `start=`.

A row that names another Cluster than the configured one is that one's, flagged; where none is configured, another than the
first row.

Not read: CPUs and TRES of the row.

Flags: ambiguous_time, bad_reason_time, other_cluster.
Rejects: field_count (a reason that holds the delimiter is joined again, a line break in it is not), bad_nodes, bad_start_time,
bad_end_time, ends_before_start, line_too_long.
Quarantine: fixed_width (text without -P), zone_required, columns_required.
"""

from collections.abc import Iterator, Mapping

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._node_rows import NodeRows, told
from bathtub.ingest._node_values import NO_STATE, moment, node_state, person, words
from bathtub.ingest._slurm_cluster import Clusters
from bathtub.ingest._slurm_table import Record, opening, records
from bathtub.schema import table
from bathtub.source import Source

FREE = frozenset({"Reason"})
START, END = ("TimeStart", "Start"), ("TimeEnd", "End")
NO_END = ("", "Unknown", "None", "0")


def _claims(head: bytes, _name: str) -> bool:
    found = opening(head, FREE)
    return found is not None and {"NodeName", "TimeStart", "TimeEnd"} <= set(found.names)


def _cell(cells: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((cells[name] for name in names if name in cells), None)


def _row(cells: Mapping[str, str], source: Source) -> dict[str, object] | str:
    """The columns of one row but for its nodes, or why it is none."""
    start, end = moment(_cell(cells, START), source), moment(_cell(cells, END), source)
    if start is None or start.at is None:
        return "bad_start_time"
    if (end is None or end.at is None) and _cell(cells, END) not in (None, *NO_END):
        return "bad_end_time"
    ended_at = end.at if end else None
    if ended_at is not None and ended_at < start.at:
        return "ends_before_start"
    state = node_state(cells["State"]) if words(cells.get("State")) else NO_STATE
    row = told(state, None, "sacctmgr_event")
    is_ambiguous = "ambiguous" in (start.quality, end.quality if end else "")
    return {
        **row,
        "seen_at": start.at,
        "time_source": "scheduler",
        "time_quality": start.quality,
        "flags": ["ambiguous_time"] if is_ambiguous else [],
        "started_at": start.at,
        "ended_at": ended_at,
        "reason": words(cells.get("Reason")),
        "reason_by": person(cells.get("User")),
    }


def _take(record: Record, rows: NodeRows, source: Source, clusters: Clusters) -> None:
    cells = record.cells
    if cells is None or not cells.get("NodeName"):
        if record.reason is not None:
            rows.collector.reject(record.line, record.reason, record.raw)
        return
    row = _row(cells, source)
    if isinstance(row, str):
        rows.collector.reject(record.line, row, record.raw)
    else:
        clusters.note(record.line, cells.get("Cluster"))
        rows.take(record.line, cells["NodeName"], row, record.raw)


def _refuse_fixed_width(source: Source) -> None:
    """Raises Quarantine where columns are told apart by blanks: what is longer than its column was cut."""
    layout = opening(next(source.chunks(), b""), FREE)
    if not source.settings.columns and layout is not None and layout.delimiter is None and len(layout.names) > 1:
        raise Quarantine("fixed_width", "columns are cut to width: run `sacctmgr -P show event All_Time`")


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export."""
    _refuse_fixed_width(source)
    rows, clusters = NodeRows(FORMAT.name, source), Clusters(source)
    for record in records(source, FREE, frozenset({"NodeName"})):
        rows.n_read += 1
        _take(record, rows, source, clusters)
        if rows.is_full:
            yield clusters.told(rows.collector.batch(rows.n_read))
            rows = NodeRows(FORMAT.name, source)
    yield clusters.told(rows.collector.batch(rows.n_read))


FORMAT = Format("slurm_events", "2", "a row", (table("node_states"),), _claims, _parse)
