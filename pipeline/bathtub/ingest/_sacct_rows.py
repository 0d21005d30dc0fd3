"""Cells of `sacct` to rows of `jobs` and `job_steps`, as expressions over a block."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._hostlist import NO_NODE, expand_nodes
from bathtub.ingest._sacct_layout import JOB_ID, JOB_ID_RAW, JOB_OR_STEP, refuse_fixed_width
from bathtub.ingest._sacct_times import TIMES, quality, with_times
from bathtub.ingest._sacct_window import Window, with_clipping
from bathtub.ingest._tres import count_gpus, names_gpus
from bathtub.source import Source

Codes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
MAX_CODES = 1 << 20
_NOTHING, _NO_NUMBER = pl.lit(None, pl.String), pl.lit(None, pl.Int64)
CUT_STATE = r"^[A-Z_]+( by [0-9]*)?\+$"
"""A state that sacct cut to its column's width: `OUT_OF_ME+`."""


def rows(cells: pl.DataFrame, repaired: Sequence[int], source: Source, window: Window | None = None) -> pl.DataFrame:
    """The cells with the columns of both tables, `step` null on job rows, and `reject`: why a record is none.

    `repaired` are the lines of records with undecodable bytes; the window is that of an export of the accounting.
    """
    states = cells["State"].unique().cast(pl.String)
    cut = states.filter(states.str.contains(CUT_STATE))
    if len(cut):
        refuse_fixed_width(cut.to_list())
    frame = with_clipping(with_times(_values(cells), source), window)
    frame = frame.with_columns(
        seen_at=pl.coalesce("ended_at", "started_at", "submitted_at"),
        time_source=pl.lit("scheduler"),
        reject=_reject(),
    )
    return frame.with_columns(flags=_flags(frame, repaired), time_quality=quality(source))


def _values(cells: pl.DataFrame) -> pl.DataFrame:
    """The columns that need one cell or two. Cells that repeat are read once per distinct value."""
    for columns, read in _repeated():
        cells = _once(cells, columns, read)
    cells = cells.hstack(_ids(cells["JobID"]))
    elapsed = pl.coalesce(slurm.whole_number(pl.col("ElapsedRaw")), slurm.duration_s(pl.col("Elapsed")))
    return cells.with_columns(*_identity(), elapsed_s=elapsed)


def _ids(texts: pl.Series) -> pl.DataFrame:
    """The parts of the job ids. Where none is of an array or a heterogeneous job, a plain split gives them."""
    if texts.str.contains(f"^{JOB_OR_STEP}$").all():
        parts = texts.str.split_exact(".", 1).struct.rename_fields(["base_job_id", "step"]).struct.unnest()
        return parts.select("base_job_id", array_task=_NOTHING, het_offset=_NO_NUMBER, step="step", het_component=_NO_NUMBER)
    ids = texts.str.extract_groups(f"^{JOB_ID}$").struct.unnest()
    return ids.with_columns(pl.col("het_offset", "het_component").cast(pl.Int64))


def _repeated() -> Iterator[tuple[list[str], dict[str, pl.Expr]]]:
    """Columns whose values repeat, and what is read from them."""
    cell = pl.col
    for name, column in (("AllocTRES", "n_gpus"), ("ReqTRES", "n_gpus_requested")):
        yield (
            [name],
            {column: count_gpus(cell(name)), f"is_bad_{column}": names_gpus(cell(name)) & count_gpus(cell(name)).is_null()},
        )
    state = slurm.state(cell("State"))
    is_known = state.is_in(list(slurm.STATES)).fill_null(value=False)
    yield ["State"], {"state": state, "is_state_known": is_known, "cancelled_by": slurm.cancelled_by(cell("State"))}
    for name, prefix in (("ExitCode", "exit"), ("DerivedExitCode", "derived_exit")):
        code, signal = slurm.exit_part(cell(name), 1), slurm.exit_part(cell(name), 2)
        is_bad = cell(name).is_not_null() & code.is_null()
        yield [name], {f"{prefix}_code": code, f"{prefix}_signal": signal, f"is_bad_{prefix}_code": is_bad}
    limits = cell("Timelimit"), cell("TimelimitRaw")
    yield ["Timelimit", "TimelimitRaw"], {"timelimit_s": slurm.limit_s(*limits), "timelimit_kind": slurm.limit_kind(*limits)}
    memory = cell("ReqMem")
    yield ["ReqMem"], {"req_mem_bytes": slurm.memory_bytes(memory), "req_mem_basis": slurm.memory_basis(memory)}
    suspended, restarts, n_nodes = cell("Suspended"), cell("Restarts"), pl.coalesce("AllocNodes", "NNodes")
    yield ["Suspended"], {"suspended_s": slurm.duration_s(suspended), "is_bad_suspended": slurm.is_bad_duration(suspended)}
    yield ["Restarts"], {"restarts": slurm.whole_number(restarts), "is_bad_restarts": slurm.is_bad_number(restarts)}
    number = slurm.whole_number(n_nodes)
    is_bad = number.is_null() & slurm.is_bad_number(n_nodes)
    yield ["NNodes", "AllocNodes"], {"n_nodes": number, "is_bad_n_nodes": is_bad}
    yield ["FailedNode"], {"failed_node": pl.when(~cell("FailedNode").is_in(NO_NODE)).then("FailedNode")}
    node_list = cell("NodeList")
    nodes = node_list.map_batches(_names, return_dtype=pl.List(pl.String))
    yield ["NodeList"], {"node_list": pl.when(~node_list.is_in(NO_NODE)).then(node_list), "nodes": nodes}


def _names(texts: pl.Series) -> pl.Series:
    """The names of host lists, null where there is none or none can be read."""
    expanded = [None if text is None or text in NO_NODE else expand_nodes(text) for text in texts]
    ends = np.cumsum([0, *(len(names) for names in expanded if names is not None)], dtype=np.int64)
    flat = pa.array([name for names in expanded if names is not None for name in names], pa.large_string())
    found = pl.Series(pa.LargeListArray.from_arrays(pa.array(ends), flat), dtype=pl.List(pl.String))
    is_known = pl.Series([names is not None for names in expanded], dtype=pl.Boolean)
    at = pl.when(is_known).then(is_known.cast(pl.UInt32).cum_sum() - 1)
    return found.gather(pl.select(at).to_series())


def _once(cells: pl.DataFrame, columns: list[str], read: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """The cells with what is read from each distinct value of some columns once."""
    if cells.is_empty():
        return cells.hstack(cells.select(pl.col(columns).cast(pl.String)).select(**read))
    code = np.zeros(len(cells), dtype=np.int64)
    for column in columns:
        number = cells[column].to_physical().cast(pl.Int64).fill_null(-1).to_numpy() + 1
        code = code * (number.max() + 1) + number
    sample, at = _distinct(code)
    values = cells.select(columns)[sample].cast(pl.String).select(**read)
    return cells.hstack(values[at])


def _distinct(code: Codes) -> tuple[Codes, Codes]:
    """The place of one of each distinct number, and for each number which of these it is."""
    if code.max() > MAX_CODES:
        _, sample, at = np.unique(code, return_index=True, return_inverse=True)
        return sample, at
    place = np.full(code.max() + 1, -1)
    place[code] = np.arange(len(code))
    present = np.flatnonzero(place >= 0)
    sample = place[present]
    place[present] = np.arange(len(present))
    return sample, place[code]


def _identity() -> list[pl.Expr]:
    named = {
        "Partition": "partition_name", "Account": "account", "User": "user_name", "QOS": "qos", "JobName": "job_name",
        "Reason": "reason", "SubmitLine": "submit_line", "AllocTRES": "alloc_tres", "ReqTRES": "req_tres",
    }  # fmt: skip
    task, offset = pl.lit("_") + pl.col("array_task"), pl.lit("+") + pl.col("het_offset").cast(pl.String)
    joined = pl.concat_str("base_job_id", task, offset, ignore_nulls=True)
    return [
        pl.when(pl.col("base_job_id").is_not_null()).then(joined).alias("job_id"),
        pl.col("JobIDRaw").str.split_exact(".", 1).struct.field("field_0").alias("job_id_raw"),
        *(pl.col(cell).cast(pl.String).alias(column) for cell, column in named.items()),
    ]


def _reject() -> pl.Expr:
    cell = pl.col
    reasons = {
        "bad_job_id": cell("base_job_id").is_null(),
        "bad_job_id_raw": ~cell("JobIDRaw").str.contains(f"^{JOB_ID_RAW}$"),
        "bad_submit_time": cell("is_bad_submitted_at"),
        "bad_start_time": cell("is_bad_started_at"),
        "bad_end_time": cell("is_bad_ended_at"),
    }
    return pl.coalesce(pl.when(is_bad).then(pl.lit(reason)) for reason, is_bad in reasons.items())


def _flags(frame: pl.DataFrame, repaired: Sequence[int]) -> pl.Expr:
    """What is doubtful: only flags that some row of the block has are worked out per row."""
    run_s = (pl.col("ended_at") - pl.col("started_at")).dt.total_seconds() - pl.col("suspended_s").fill_null(0)
    masks = {
        "key_without_submit": pl.col("submitted_at").is_null(),
        "key_without_raw_id": pl.col("job_id_raw").is_null(),
        "ambiguous_time": pl.any_horizontal(f"is_ambiguous_{column}" for column in TIMES.values()),
        "elapsed_disagrees": pl.col("step").is_null() & (run_s != pl.col("elapsed_s")),
        "end_before_start": pl.col("ended_at") < pl.col("started_at"),
        "clipped_times": pl.col("is_clipped"),
        "decoded_with_replacement": pl.col("line").is_in(repaired),
        "bad_node_list": pl.col("node_list").is_not_null() & pl.col("nodes").is_null(),
        "bad_gpu_count": pl.any_horizontal("is_bad_n_gpus", "is_bad_n_gpus_requested"),
        "bad_node_count": pl.col("is_bad_n_nodes"),
        "bad_elapsed": pl.any_horizontal(slurm.is_bad_number(pl.col("ElapsedRaw")), slurm.is_bad_duration(pl.col("Elapsed"))),
        "bad_exit_code": pl.any_horizontal("is_bad_exit_code", "is_bad_derived_exit_code"),
        "bad_suspended": pl.col("is_bad_suspended"),
        "bad_memory": pl.col("ReqMem").is_not_null() & pl.col("req_mem_bytes").is_null(),
        "bad_restarts": pl.col("is_bad_restarts"),
    }
    seen = frame.select(mask.fill_null(value=False).any().alias(flag) for flag, mask in masks.items()).row(0, named=True)
    present = [pl.when(masks[flag]).then(pl.lit(flag)) for flag in masks if seen[flag]]
    if not present:
        return pl.lit([], dtype=pl.List(pl.String))
    return pl.concat_list(present).list.drop_nulls()
