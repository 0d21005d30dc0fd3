r"""Text of Slurm's `scontrol show node`, `scontrol show job` and `scontrol show partition`, also with `-o` and `-d`.

    NodeName=gpu-03 Arch=x86_64 CoresPerSocket=32
       Gres=gpu:a100:8(S:0-1)
       State=DOWN+DRAIN+NOT_RESPONDING ThreadsPerCore=1
       BootTime=2026-02-20T07:12:01 SlurmdStartTime=2026-02-20T07:12:44
       CfgTRES=cpu=64,mem=1031000M,billing=64,gres/gpu=8
       Reason=Not responding : see ticket [root@2026-03-01T08:00:05]

Written by Slurm 20.11 to 26.05. A record begins with its first key at the start of a line and ends at a blank line or the
next; it is one line or several. A node gives a row of `node_states`, a job one of `jobs`; partitions, reservations, steps and
lines of no record are out of scope. A reason runs to its bracket `[user@time]`, whatever stands in it, and over indented
lines. GPUs of a node are those of `Gres`, else of `CfgTRES`; those in use of `GresUsed` (`-d`), else of `AllocTRES`.
A job needs its state; one whose text says a key twice is rejected, since its name may say anything. The end of a job that
runs and the start of one that waits are only expected, so null.

`seen_at` is when the file was collected. Times are local without a zone: the source must have one.

Not read: CPUs, memory, load, features, paths.

Flags: ambiguous_time, bad_reason_time; of jobs those of `slurm_sacct`.
Rejects: bad_nodes, missing_fields, ambiguous_fields, record_too_long, bad_job_id, bad_submit_time, bad_start_time, bad_end_time.
Quarantine: zone_required.
"""

import re
from collections.abc import Iterator

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._job_snapshots import MAX_WEIGHT, Cells, weight, with_jobs
from bathtub.ingest._node_rows import NodeRows, snapshot, told
from bathtub.ingest._node_values import NO_STATE, count_gpus, moment, node_state, tres_gpus, words
from bathtub.ingest._scontrol_text import JOB, NODE, Shown, gpus_held, job_parts, node_parts, repeated, shown
from bathtub.schema import table
from bathtub.source import Source

JOB_KEYS = {
    "JobState": "State", "Reason": "Reason", "SubmitTime": "Submit", "StartTime": "Start", "EndTime": "End", "RunTime": "Elapsed",
    "ExitCode": "ExitCode", "DerivedExitCode": "DerivedExitCode", "NodeList": "NodeList", "NumNodes": "NNodes",
    "Partition": "Partition", "Account": "Account", "QOS": "QOS", "TimeLimit": "Timelimit", "ReqTRES": "ReqTRES",
    "AllocTRES": "AllocTRES", "Restarts": "Restarts",
}  # fmt: skip
IDS = ("JobId", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "UserId", "TRES")
_OPENS = re.compile(
    r"\ufeff?\s*(?:NodeName=\S+\s+(?:Arch|CoresPerSocket|CPUAlloc|CfgTRES)=|JobId=\d+\s+(?:Array\w+|Het\w+|JobName)="
    r"|PartitionName=\S+\s+AllowGroups=)"
)


def _claims(head: bytes, _name: str) -> bool:
    return _OPENS.match(head.decode("utf-8", "replace")) is not None


def _node(text: str, source: Source) -> tuple[str, dict[str, object]]:
    """The name of a node and the columns of its row."""
    found, reason = node_parts(text)
    state = node_state(found["State"]) if words(found.get("State")) else NO_STATE
    booted_at = moment(found.get("BootTime"), source)
    configured = count_gpus(found.get("Gres"))
    used = count_gpus(found.get("GresUsed"))
    return found.get(NODE, ""), {
        **snapshot(source),
        **told(state, moment(reason.get("at"), source), "scontrol"),
        "reason": words(reason.get("reason")),
        "reason_by": words(reason.get("by")),
        "booted_at": booted_at.at if booted_at else None,
        "n_gpus": configured if configured is not None else tres_gpus(found.get("CfgTRES")),
        "n_gpus_used": used if used is not None else tres_gpus(found.get("AllocTRES")),
        "gres": words(found.get("Gres")),
    }


def _job(text: str) -> Cells | str:
    """The cells of a job by the names of `sacct`, or why it is none."""
    found, name = job_parts(text)
    if repeated(text, (*JOB_KEYS, *IDS)):
        return "ambiguous_fields"
    if not found.get("JobState"):
        return "missing_fields"
    own, task = found[JOB], found.get("ArrayTaskId", "")
    shown_id = own
    if words(task):
        shown_id = f"{found.get('ArrayJobId', '')}_{task if task.isdigit() else f'[{task}]'}"
    elif words(found.get("HetJobId")):
        shown_id = f"{found['HetJobId']}+{found.get('HetJobOffset', '')}"
    cells = {column: found.get(key) for key, column in JOB_KEYS.items()}
    cells["AllocTRES"] = found.get("AllocTRES") or found.get("TRES")
    cells["NNodes"] = None if "-" in (cells["NNodes"] or "") else cells["NNodes"]
    user = re.sub(r"\([0-9]+\)$", "", found.get("UserId", ""))
    return {**cells, "JobID": shown_id, "JobIDRaw": own, "User": user, "JobName": name}


class _Batch:
    """Records on their way to one batch."""

    def __init__(self, source: Source) -> None:
        self.source, self.nodes = source, NodeRows(FORMAT.name, source)
        self.jobs: list[tuple[int, Cells, str]] = []
        self.held: dict[int, list[str] | None] = {}
        self.n_held = 0

    def take(self, record: Shown) -> None:
        """One record to its rows, its reject, or out of scope."""
        self.nodes.n_read += 1
        if record.kind in (NODE, JOB) and record.is_too_long:
            self.nodes.collector.reject(record.line, "record_too_long", record.text)
        elif record.kind == NODE:
            name, row = _node(record.text, self.source)
            self.nodes.take(record.line, name, row, record.text)
        elif record.kind == JOB:
            cells = _job(record.text)
            if isinstance(cells, str):
                self.nodes.collector.reject(record.line, cells, record.text)
            else:
                self.jobs.append((record.line, cells, record.text))
                self.n_held += weight(cells) + len(record.text) // 64
                self.held[record.line] = gpus_held(record.text)

    def finished(self) -> Batch:
        """The batch, jobs with the indices of their GPUs."""
        batch = with_jobs(self.nodes.collector.batch(self.nodes.n_read), self.jobs, FORMAT.name, self.source)
        held = [self.held.get(line) for line in batch.frames["jobs"]["line"]]
        jobs = batch.frames["jobs"].with_columns(gpu_indices=pl.Series(held, dtype=pl.List(pl.String)))
        return Batch({**batch.frames, "jobs": jobs}, batch.rejects, batch.read, batch.kept, batch.rejected, batch.out_of_scope)


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export."""
    batch = _Batch(source)
    for record in shown(source):
        batch.take(record)
        if batch.nodes.is_full or batch.n_held >= MAX_WEIGHT:
            yield batch.finished()
            batch = _Batch(source)
    yield batch.finished()


FORMAT = Format("slurm_scontrol", "2", "a node, a job or a partition", (table("node_states"), table("jobs")), _claims, _parse)
