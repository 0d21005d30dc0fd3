"""Jobs as the controller shows them now (`squeue`, `scontrol show job`), in the cells of `sacct` and so to rows of `jobs`.

What the controller only expects is null: the end of a job that has not ended, the start of one that waits, the exit code
of both. A resource that a waiting job asks for is requested, not held.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from bathtub.ingest import Batch
from bathtub.ingest._hostlist import count_nodes
from bathtub.ingest._node_values import words
from bathtub.ingest._rows import conform, rejects
from bathtub.ingest._sacct_cells import framed, repaired
from bathtub.ingest._sacct_rows import rows
from bathtub.ingest._slurm_values import SHORT_STATES
from bathtub.schema import table
from bathtub.source import Source

MAX_WEIGHT = 1 << 18
Cells = Mapping[str, str | None]
CLOSED = frozenset({
    "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
})  # fmt: skip
WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})


def weight(cells: Cells) -> int:
    """How many rows and node names a job makes."""
    return 1 + (count_nodes(cells.get("NodeList") or "") or 0)


def settled(cells: Cells) -> dict[str, str | None]:
    """The cells without blanks, and without what is only expected."""
    found = {name: words(text) for name, text in cells.items()}
    state = SHORT_STATES.get(found.get("State") or "", found.get("State") or "")
    if state not in CLOSED:
        found |= {"End": None, "ExitCode": None, "DerivedExitCode": None}
    if state in WAITING:
        requested = found.get("ReqTRES") or found.get("AllocTRES")
        found |= {"Start": None, "AllocTRES": None, "ReqTRES": requested, "NodeList": None}
    return found


def job_rows(records: Sequence[tuple[int, Cells, str]], source: Source) -> tuple[pl.DataFrame, list[tuple[int, str, str]]]:
    """Rows of `jobs` (their `seen_at` is the snapshot's) and rejects out of (line, cells, raw)."""
    raws = {line: raw for line, _, raw in records}
    frame = framed({"line": line, **settled(found)} for line, found, _ in records)
    found = rows(frame, repaired(raws), source).with_columns(
        seen_at=pl.lit(source.collected_at),
        time_source=pl.lit("file"),
        time_quality=pl.lit("observation"),
        req_mem_basis=pl.lit(None, pl.String),
    )
    is_step = pl.col("step").is_not_null()
    found = found.with_columns(reject=pl.coalesce("reject", pl.when(is_step).then(pl.lit("bad_job_id"))))
    refused = found.filter(pl.col("reject").is_not_null()).select("line", "reject")
    bad = [(line, reason, raws[line]) for line, reason in refused.iter_rows()]
    return conform(table("jobs"), found.filter(pl.col("reject").is_null()), source), bad


def with_jobs(batch: Batch, records: Sequence[tuple[int, Cells, str]], format_name: str, source: Source) -> Batch:
    """A batch and the jobs among its records, which it has read but counted nowhere."""
    good, bad = job_rows(records, source)
    refused = pl.concat([batch.rejects, rejects(bad, format_name, source)]).sort("line", maintain_order=True)
    n_out = batch.out_of_scope - len(records)
    frames = {**batch.frames, "jobs": good}
    return Batch(frames, refused, batch.read, batch.kept + len(good), batch.rejected + len(bad), n_out)
