r"""Text of Slurm's `sacct -P` or `-p`: one record per attempt of a job and one per step.

    TZ=UTC SLURM_TIME_FORMAT=%s sacct -a -D -P -S <from> -E <to> -o JobID,JobIDRaw,Submit,Start,End,ElapsedRaw,State,JobName

    JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|State|JobName
    71|71|1748764800|1748764860|1748768460|3600|NODE_FAIL|pretrain | eval
    71.batch|71.batch|1748764860|1748764860|1748768461|3601|CANCELLED|batch

Written by Slurm 20.02 to 26.05. Any order and subset of the columns, and any delimiter but a comma, is read from the header;
text without one (`-n`) needs the format and its columns in the configuration, and the delimiter where it is not `|`. Where the
delimiter can stand in lists of nodes or resources too, as a comma does, it must be named, and a row with too many of them is
read only if the shapes of its cells leave one reading. A name
that occurs twice gives its first cell that is not blank. A record is a logical row: nothing is escaped, so it may span
lines; `line` is that of its first. Line breaks at the end of a last column of free text are lost: they are blank lines.
Blank lines, repeated headers and messages of the client are out of scope; a header
with other columns changes the layout from there on.

Times are epoch seconds, or local without a zone (then the source must have one), or with their own offset. In the
repeated hour the run time and the order of the times decide; where they do not, it is the first reading, flagged.
Limits: a record has at most 1,000 lines; a line, 4 MiB.

Do not export with `-T`. It clips times to the window and does not say so; what looks clipped is flagged `clipped_times`
(the signs are in `_sacct_window.py`; all but the first look at the first 4 MiB). The End of an open record is null then,
and so is the Start of one that waits. Other clipped times stay as printed: the run time of such a row is a lower bound, its
exposure is right within that window only, and a failure at a clipped End happened later, unseen.

`Cluster` is compared with the configured name, whatever its case: a row that names another has it in `cluster`, flagged
`other_cluster`, and joins the logs of that one. So call clusters as Slurm does. Where none is configured, the file is
about the first cluster that it names.

Not read: usage counters (CPU time, memory, disk, energy), GID and UID.

Flags: key_without_submit, key_without_raw_id, ambiguous_time, elapsed_disagrees, end_before_start, clipped_times, other_cluster,
decoded_with_replacement, bad_node_list, bad_gpu_count, bad_node_count, bad_elapsed, bad_exit_code, bad_suspended,
bad_memory, bad_restarts (a bad value is null, the row stays).

Rejects: field_count, ambiguous_fields, bad_job_id, bad_job_id_raw, bad_submit_time, bad_start_time, bad_end_time,
line_too_long (what a record is, or when it was, cannot be read).

Quarantine: zone_required, unknown_zone, unknown_time_format, fixed_width, columns_required, delimiter_required.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._hostlist import count_nodes
from bathtub.ingest._rows import conform, rejects
from bathtub.ingest._sacct_cells import Cells, repaired
from bathtub.ingest._sacct_export import cells_of, opening
from bathtub.ingest._sacct_layout import is_fixed_width, read_header
from bathtub.ingest._sacct_rows import rows
from bathtub.ingest._sacct_times import refuse_foreign_times
from bathtub.ingest._sacct_window import Window
from bathtub.ingest._slurm_cluster import Clusters, with_cluster
from bathtub.schema import Table, table
from bathtub.source import Source

MAX_NAMES = 1 << 20
JOBS, STEPS = table("jobs"), table("job_steps")


@dataclass(frozen=True)
class _Export:
    """A file, and what its records have told so far."""

    source: Source
    clusters: Clusters
    window: Window


def _claims(head: bytes, _name: str) -> bool:
    lines = opening(head.decode("utf-8", "replace"))
    return bool(lines) and (any(read_header(lines[0], mark) for mark in (None, ",")) or is_fixed_width(lines))


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export, each read while the next one's lines are split; the form of its times is judged first."""
    with ThreadPoolExecutor(1) as beside:
        waiting: Future[list[Batch]] | None = None
        is_judged = False
        export = _Export(source, Clusters(source), Window())
        for cells in cells_of(source):
            if not is_judged and not cells.frame.is_empty():
                refuse_foreign_times(cells.frame, source)
                is_judged = True
            ahead = beside.submit(_batches, cells, export)
            if waiting is not None:
                yield from waiting.result()
            waiting = ahead
        if waiting is not None:
            yield from waiting.result()


def _batches(cells: Cells, export: _Export) -> list[Batch]:
    """The batches of some cells; what never became any goes with the first."""
    return [_batch(frame, cells, export, is_first=not nth) for nth, frame in enumerate(_slices(cells.frame))]


def _slices(cells: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The cells in pieces whose host lists expand to a bounded number of names."""
    values = cells["NodeList"].unique().drop_nulls()
    sizes = {text: count_nodes(text) or 0 for text in values.cast(pl.String)}
    if sum(sizes.values()) * len(cells) <= MAX_NAMES:  # no more than if each row had all of them
        yield cells
        return
    counts = cells["NodeList"].cast(pl.String).replace_strict(sizes, default=0, return_dtype=pl.Int64)
    piece = counts.cum_sum() // MAX_NAMES
    if piece.n_unique() <= 1:
        yield cells
        return
    for number in piece.unique().sort():
        yield cells.filter(piece == number)


def _batch(frame: pl.DataFrame, cells: Cells, export: _Export, *, is_first: bool) -> Batch:
    """The batch of some of the cells, and with the first of the records that never became any."""
    source = export.source
    others = export.clusters.others(frame["Cluster"].unique(maintain_order=True))
    found = rows(frame, repaired(cells.raws), source, export.window)
    bad = found.filter(pl.col("reject").is_not_null())
    good = found.filter(pl.col("reject").is_null()) if len(bad) else found  # a copy that mostly is not needed
    frames = {
        "jobs": _conformed(JOBS, good.filter(pl.col("step").is_null()), source, others),
        "job_steps": _conformed(STEPS, good.filter(pl.col("step").is_not_null()), source, others),
    }
    refused = [(line, reason, cells.raw(line)) for line, reason in bad.select("line", "reject").iter_rows()]
    refused = sorted([*refused, *(cells.rejected if is_first else [])])
    n_out_of_scope = cells.n_out_of_scope if is_first else 0
    read = len(good) + len(refused) + n_out_of_scope
    return Batch(frames, rejects(refused, FORMAT.name, source), read, len(good), len(refused), n_out_of_scope)


def _conformed(declared: Table, found: pl.DataFrame, source: Source, others: set[str]) -> pl.DataFrame:
    frame = conform(declared, found, source)
    return with_cluster(frame.hstack([found["Cluster"]]), others) if others else frame


FORMAT = Format("slurm_sacct", "2", "a logical row", (JOBS, STEPS), _claims, _parse)
