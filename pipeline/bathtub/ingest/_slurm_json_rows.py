"""A job object of Slurm's JSON to a row of `jobs` and its steps' rows."""

from collections.abc import Iterator
from datetime import datetime

from bathtub.ingest import _slurm_json_values as values
from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._hostlist import expand_nodes
from bathtub.ingest._rows import Row
from bathtub.ingest._slurm_json_job import Job, instant
from bathtub.ingest._times import TOLERANCE
from bathtub.source import Source


def job_row(job: Job, source: Source) -> dict[str, object]:
    """The row of an object that is a record, without its place in the file."""
    shared, doubts = _outcome(job.times(), job.states, job["exit_code"], job["nodes"], job["alloc_tres"])
    derived_code, derived_signal = values.exit_pair(job["derived_exit_code"])
    size, basis = values.memory(job["per_node"], job["per_cpu"], values.at(job.found, "required.memory"))
    timelimit_s, timelimit_kind = values.limit(job["timelimit"])
    elapsed_s = values.number(job["elapsed_s"])
    row = {
        **shared,
        **_identity(job),
        **_clock(shared, source),
        "elapsed_s": elapsed_s if elapsed_s is not None and elapsed_s >= 0 else None,
        "suspended_s": values.number(job["suspended_s"]),
        "cancelled_by": _user_id(job["kill_request_user"]),
        "n_nodes": values.number(job["n_nodes"]),
        "derived_exit_code": derived_code,
        "derived_exit_signal": derived_signal,
        "failed_node": values.node_list(job["failed_node"]),
        "req_tres": values.tres(job["req_tres"]),
        "req_mem_bytes": size,
        "req_mem_basis": basis,
        "timelimit_s": timelimit_s,
        "timelimit_kind": timelimit_kind,
        "restarts": values.number(job["restart_cnt"]),
        "partition_name": values.text(job["partition"]),
        "account": values.text(job["account"]),
        "user_name": values.text(job["user_name"]) or values.text(values.at(job.found, "association.user")),
        "qos": values.text(job["qos"]),
        "job_name": values.text(job["name"]),
        "reason": values.text(job["reason"]),
        "submit_line": values.text(job["submit_line"]),
    }
    return row | {"flags": [*_flags(row, doubts), *_unread(job)]}


def step_rows(job: Job, row: Row, source: Source) -> Iterator[dict[str, object] | None]:
    """The rows of a job's steps; None for one that cannot be read, or that stands there a second time."""
    steps, met = values.at(job.found, "steps"), set()
    for step in steps if isinstance(steps, list) else ():
        name, component = values.step_name(values.at(step, "step"))
        times = {column: values.at(step, f"time.{key}") for column, key in (("started_at", "start"), ("ended_at", "end"))}
        if name is None or (name, component) in met or any(values.is_bad_number(value) for value in times.values()):
            yield None
            continue
        met.add((name, component))
        nodes = values.at(step, "nodes.range") or values.at(step, "nodes.list")
        states = values.states(values.at(step, "state"))
        shared, doubts = _outcome(times, states, values.at(step, "exit_code"), nodes, values.at(step, "tres.allocated"))
        yield {
            **shared,
            "flags": doubts,
            **{key: row[key] for key in ("job_id", "job_id_raw", "submitted_at")},
            **_clock({**shared, "submitted_at": row["submitted_at"]}, source),
            "step": name,
            "het_component": component,
            "elapsed_s": values.number(values.at(step, "time.elapsed")),
            "suspended_s": values.number(values.at(step, "time.suspended")),
            "cancelled_by": _user_id(values.at(step, "kill_request_user")),
            "n_nodes": values.number(values.at(step, "nodes.count")),
        }


def _identity(job: Job) -> Row:
    """The ids as the text form shows them: 123, 100_4, 100_[1-3], 100+1."""
    raw = str(values.number(job["job_id"]))
    array, task, leader, offset = (values.number(job[name]) for name in ("array_job", "array_task", "het_job", "het_offset"))
    waiting = (values.text(job["waiting_tasks"]) or "").strip("[]")
    found: dict[str, object] = {"job_id": raw, "job_id_raw": raw, "base_job_id": raw}
    if array and (task is not None or waiting):
        named = str(task) if task is not None else f"[{waiting}]"
        found |= {"job_id": f"{array}_{named}", "base_job_id": str(array), "array_task": named}
    elif leader and offset is not None:
        found |= {"job_id": f"{leader}+{offset}", "base_job_id": str(leader), "het_offset": offset}
    return found


def _outcome(
    times: Row, states: set[str], exit_code: object, nodes: object, allocated: object
) -> tuple[dict[str, object], list[str]]:
    """The columns that jobs and steps read alike, and what of them is doubtful."""
    code, signal = values.exit_pair(exit_code)
    listed, held = values.node_list(nodes), values.tres(allocated)
    expanded = expand_nodes(listed) if listed else None
    state = values.state(states)
    doubts = {
        "bad_node_list": listed is not None and expanded is None,
        "bad_tres": held is None and bool(allocated),
        "unknown_state_flag": state in slurm.STATES and any(name not in slurm.STATES for name in states),
    }
    found: dict[str, object] = {
        **{column: instant(value) for column, value in times.items()},
        "state": state,
        "is_state_known": state in slurm.STATES,
        "exit_code": code,
        "exit_signal": signal,
        "node_list": listed,
        "nodes": list(expanded) if expanded else None,
        "alloc_tres": held,
    }
    return found, [flag for flag, is_so in doubts.items() if is_so]


def _clock(row: Row, source: Source) -> Row:
    seen_at = row["ended_at"] or row["started_at"] or row["submitted_at"]
    if not isinstance(seen_at, datetime):
        return {"time_source": "scheduler", "time_quality": "unknown"}
    quality = "future" if seen_at > source.collected_at + TOLERANCE else "exact"
    return {"seen_at": seen_at, "time_source": "scheduler", "time_quality": quality}


def _unread(job: Job) -> Iterator[str]:
    if values.is_bad_number(job["elapsed_s"]) or (values.number(job["elapsed_s"]) or 0) < 0:
        yield "bad_elapsed"
    if values.is_bad_exit(job["exit_code"]) or values.is_bad_exit(job["derived_exit_code"]):
        yield "bad_exit_code"
    if job.is_clipped:
        yield "clipped_times"


def _user_id(value: object) -> str | None:
    return None if (found := values.number(value)) is None or found < 0 else str(found)


def _flags(row: Row, doubts: list[str]) -> Iterator[str]:
    started_at, ended_at, elapsed_s = row["started_at"], row["ended_at"], row["elapsed_s"]
    if row["submitted_at"] is None:
        yield "key_without_submit"
    pause_s = row["suspended_s"] if isinstance(row["suspended_s"], int) else 0
    is_over = isinstance(started_at, datetime) and isinstance(ended_at, datetime) and isinstance(elapsed_s, int)
    if is_over and (ended_at - started_at).total_seconds() != elapsed_s + pause_s:  # type: ignore[operator]
        yield "elapsed_disagrees"
    yield from doubts
