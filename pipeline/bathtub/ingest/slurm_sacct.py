r"""Text of Slurm's `sacct -P` or `-p`: one record per attempt of a job and one per step.

    TZ=UTC SLURM_TIME_FORMAT=%s sacct -a -D -P -S <from> -E <to> -o JobID,JobIDRaw,Submit,Start,End,ElapsedRaw,State,JobName

    JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|State|JobName
    71|71|1748764800|1748764860|1748768460|3600|NODE_FAIL|pretrain | eval
    71.batch|71.batch|1748764860|1748764860|1748768461|3601|CANCELLED|batch

Written by Slurm 20.02 to 26.05. Any order and subset of the columns, and any delimiter, is read from the header; text
without one (`-n`) needs the format and its columns in the configuration, and the delimiter where it is not `|`. A name
that occurs twice gives its first cell that is not blank. A record is a logical row: nothing is escaped, so it may span
lines; `line` is that of its first. Blank lines, repeated headers and messages of the client are out of scope; a header
with other columns changes the layout from there on.

Times are epoch seconds, or local without a zone (then the source must have one), or with their own offset. In the
repeated hour the run time and the order of the times decide; where they do not, it is the first reading, flagged.
Limits: a record has at most 1,000 lines; a line, 4 MiB.

Not read: usage counters (CPU time, memory, disk, energy), GID and UID; `Cluster`, since the configuration names it.

Flags: key_without_submit, key_without_raw_id, ambiguous_time, elapsed_disagrees, decoded_with_replacement,
bad_node_list, bad_gpu_count, bad_node_count, bad_suspended, bad_memory, bad_restarts (a bad value is null, the row stays).

Rejects: field_count, ambiguous_fields, bad_job_id, bad_job_id_raw, bad_submit_time, bad_start_time, bad_end_time,
bad_elapsed, bad_exit_code, line_too_long.

Quarantine: zone_required, unknown_zone, unknown_time_format, fixed_width, columns_required.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._hostlist import count_nodes
from bathtub.ingest._rows import conform, rejects
from bathtub.ingest._sacct_cells import Cells, repaired
from bathtub.ingest._sacct_export import cells_of, opening
from bathtub.ingest._sacct_layout import is_fixed_width, read_header
from bathtub.ingest._sacct_rows import rows
from bathtub.ingest._sacct_times import refuse_foreign_times
from bathtub.schema import table
from bathtub.source import Source

MAX_NAMES = 1 << 20
JOBS, STEPS = table("jobs"), table("job_steps")


def _claims(head: bytes, _name: str) -> bool:
    lines = opening(head.decode("utf-8", "replace"))
    return bool(lines) and (read_header(lines[0]) is not None or is_fixed_width(lines))


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export, each read while the next one's lines are split; the form of its times is judged first."""
    with ThreadPoolExecutor(1) as beside:
        waiting: Future[list[Batch]] | None = None
        is_judged = False
        for cells in cells_of(source):
            if not is_judged and not cells.frame.is_empty():
                refuse_foreign_times(cells.frame, source)
                is_judged = True
            ahead = beside.submit(_batches, cells, source)
            if waiting is not None:
                yield from waiting.result()
            waiting = ahead
        if waiting is not None:
            yield from waiting.result()


def _batches(cells: Cells, source: Source) -> list[Batch]:
    """The batches of some cells; what never became any goes with the first."""
    return [_batch(frame, cells, source, is_first=not nth) for nth, frame in enumerate(_slices(cells.frame))]


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


def _batch(frame: pl.DataFrame, cells: Cells, source: Source, *, is_first: bool) -> Batch:
    """The batch of some of the cells, and with the first of the records that never became any."""
    found = rows(frame, repaired(cells.raws), source)
    good, bad = found.filter(pl.col("reject").is_null()), found.filter(pl.col("reject").is_not_null())
    frames = {
        "jobs": conform(JOBS, good.filter(pl.col("step").is_null()), source),
        "job_steps": conform(STEPS, good.filter(pl.col("step").is_not_null()), source),
    }
    refused = [(line, reason, cells.raw(line)) for line, reason in bad.select("line", "reject").iter_rows()]
    refused = sorted([*refused, *(cells.rejected if is_first else [])])
    n_out_of_scope = cells.n_out_of_scope if is_first else 0
    read = len(good) + len(refused) + n_out_of_scope
    return Batch(frames, rejects(refused, FORMAT.name, source), read, len(good), len(refused), n_out_of_scope)


FORMAT = Format("slurm_sacct", "1", "a logical row", (JOBS, STEPS), _claims, _parse)
