"""Cells of `sacct` to rows of `jobs` and `job_steps`, as expressions over a block."""

import polars as pl

from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._hostlist import NO_NODE, expand_nodes
from bathtub.ingest._sacct_layout import JOB_ID, JOB_ID_RAW
from bathtub.ingest._sacct_times import TIMES, quality, with_times
from bathtub.ingest._tres import count_gpus, names_gpus
from bathtub.source import Source

_STEP = r"\.[0-9A-Za-z_]+(?:\+[0-9]+)?$"


def rows(cells: pl.DataFrame, source: Source) -> pl.DataFrame:
    """The cells with the columns of both tables, `step` null on job rows, and `reject`: why a record is none."""
    frame = with_times(_values(cells), source)
    frame = frame.with_columns(
        seen_at=pl.coalesce("ended_at", "started_at", "submitted_at"),
        time_source=pl.lit("scheduler"),
        reject=_reject(),
    )
    return frame.with_columns(flags=_flags(frame), time_quality=quality(source))


def _values(cells: pl.DataFrame) -> pl.DataFrame:
    """The columns that need one cell or two. Cells that repeat are read once per distinct value."""
    tres = {"AllocTRES": "n_gpus", "ReqTRES": "n_gpus_requested"}
    for name, column in tres.items():
        cells = _once(cells, name, count_gpus(pl.col(name)).alias(column))
    cells = _once(cells, "Suspended", slurm.duration_s(pl.col("Suspended")).alias("suspended_s"))
    memory = pl.col("ReqMem")
    cells = _once(
        cells, "ReqMem", slurm.memory_bytes(memory).alias("req_mem_bytes"), slurm.memory_basis(memory).alias("req_mem_basis")
    )
    node_list = pl.when(~pl.col("NodeList").is_in(NO_NODE)).then("NodeList").alias("node_list")
    expanded = pl.col("NodeList").map_elements(_names, return_dtype=pl.List(pl.String)).alias("nodes")
    return _once(cells, "NodeList", node_list, expanded).with_columns(*_identity(), *_outcome(), *_request())


def _names(text: str) -> pl.Series | None:
    names = None if text in NO_NODE else expand_nodes(text)
    return None if names is None else pl.Series(names, dtype=pl.String)


def _once(cells: pl.DataFrame, column: str, *read: pl.Expr) -> pl.DataFrame:
    """The cells with columns that are read from each distinct value of one column once."""
    values = cells.select(column).unique().with_columns(read)
    return cells.join(values, on=column, how="left", nulls_equal=True, maintain_order="left")


def _identity() -> list[pl.Expr]:
    ids = pl.col("JobID").str.extract_groups(f"^{JOB_ID}$")
    return [
        pl.col("JobID").str.replace(_STEP, "").alias("job_id"),
        pl.col("JobIDRaw").str.replace(_STEP, "").alias("job_id_raw"),
        *(ids.struct.field(name) for name in ("base_job_id", "array_task", "step")),
        *(ids.struct.field(name).cast(pl.Int64) for name in ("het_offset", "het_component")),
        pl.col("Partition").alias("partition_name"),
        pl.col("Account").alias("account"),
        pl.col("User").alias("user_name"),
        pl.col("QOS").alias("qos"),
        pl.col("JobName").alias("job_name"),
        pl.col("Reason").alias("reason"),
        pl.col("SubmitLine").alias("submit_line"),
    ]


def _outcome() -> list[pl.Expr]:
    state = slurm.state(pl.col("State"))
    return [
        pl.coalesce(slurm.whole_number(pl.col("ElapsedRaw")), slurm.duration_s(pl.col("Elapsed"))).alias("elapsed_s"),
        state.alias("state"),
        state.is_in(list(slurm.STATES)).fill_null(value=False).alias("is_state_known"),
        slurm.cancelled_by(pl.col("State")).alias("cancelled_by"),
        slurm.exit_part(pl.col("ExitCode"), 1).alias("exit_code"),
        slurm.exit_part(pl.col("ExitCode"), 2).alias("exit_signal"),
        slurm.exit_part(pl.col("DerivedExitCode"), 1).alias("derived_exit_code"),
        slurm.exit_part(pl.col("DerivedExitCode"), 2).alias("derived_exit_signal"),
        pl.when(~pl.col("FailedNode").is_in(NO_NODE)).then("FailedNode").alias("failed_node"),
        slurm.whole_number(pl.col("Restarts")).alias("restarts"),
    ]


def _request() -> list[pl.Expr]:
    limits = pl.col("Timelimit"), pl.col("TimelimitRaw")
    return [
        slurm.whole_number(pl.coalesce("NNodes", "AllocNodes")).alias("n_nodes"),
        pl.col("AllocTRES").alias("alloc_tres"),
        pl.col("ReqTRES").alias("req_tres"),
        slurm.limit_s(*limits).alias("timelimit_s"),
        slurm.limit_kind(*limits).alias("timelimit_kind"),
    ]


def _reject() -> pl.Expr:
    cell = pl.col
    has_exit_code = cell("ExitCode").is_not_null() & cell("exit_code").is_null()
    has_derived = cell("DerivedExitCode").is_not_null() & cell("derived_exit_code").is_null()
    elapsed = slurm.is_bad_number(cell("ElapsedRaw")).fill_null(value=False)
    reasons = {
        "bad_job_id": cell("base_job_id").is_null(),
        "bad_job_id_raw": ~cell("JobIDRaw").str.contains(f"^{JOB_ID_RAW}$"),
        "bad_submit_time": cell("is_bad_submitted_at"),
        "bad_start_time": cell("is_bad_started_at"),
        "bad_end_time": cell("is_bad_ended_at"),
        "bad_elapsed": elapsed | slurm.is_bad_duration(cell("Elapsed")).fill_null(value=False),
        "bad_exit_code": has_exit_code | has_derived,
    }
    return pl.coalesce(pl.when(is_bad).then(pl.lit(reason)) for reason, is_bad in reasons.items())


def _flags(frame: pl.DataFrame) -> pl.Expr:
    """What is doubtful: only flags that some row of the block has are worked out per row."""
    run_s = (pl.col("ended_at") - pl.col("started_at")).dt.total_seconds() - pl.col("suspended_s").fill_null(0)
    gpus = names_gpus(pl.col("AllocTRES")) & pl.col("n_gpus").is_null()
    gpus_requested = names_gpus(pl.col("ReqTRES")) & pl.col("n_gpus_requested").is_null()
    masks = {
        "key_without_submit": pl.col("submitted_at").is_null(),
        "key_without_raw_id": pl.col("job_id_raw").is_null(),
        "ambiguous_time": pl.any_horizontal(f"is_ambiguous_{column}" for column in TIMES.values()),
        "elapsed_disagrees": pl.col("step").is_null() & (run_s != pl.col("elapsed_s")),
        "decoded_with_replacement": pl.col("raw").str.contains("\ufffd", literal=True),
        "bad_node_list": pl.col("node_list").is_not_null() & pl.col("nodes").is_null(),
        "bad_gpu_count": gpus.fill_null(value=False) | gpus_requested.fill_null(value=False),
        "bad_node_count": pl.col("n_nodes").is_null() & slurm.is_bad_number(pl.coalesce("NNodes", "AllocNodes")),
        "bad_suspended": slurm.is_bad_duration(pl.col("Suspended")),
        "bad_memory": pl.col("ReqMem").is_not_null() & pl.col("req_mem_bytes").is_null(),
        "bad_restarts": slurm.is_bad_number(pl.col("Restarts")),
    }
    seen = frame.select(mask.fill_null(value=False).any().alias(flag) for flag, mask in masks.items()).row(0, named=True)
    present = [pl.when(masks[flag]).then(pl.lit(flag)) for flag in masks if seen[flag]]
    if not present:
        return pl.lit([], dtype=pl.List(pl.String))
    return pl.concat_list(present).list.drop_nulls()
