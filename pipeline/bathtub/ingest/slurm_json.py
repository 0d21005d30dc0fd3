"""Slurm's JSON of jobs: `sacct --json`, `squeue --json`, `scontrol show job --json`, slurmrestd's `slurmdb` and `slurm` jobs.

    sacct -a -D -S <from> -E <to> --json

    {"jobs": [{"job_id": 71, "name": "pretrain", "nodes": "n[01-02]",
               "time": {"submission": 1748764800, "start": 1748764860, "end": 1748768460, "elapsed": 3600, "suspended": 0},
               "state": {"current": ["NODE_FAIL"], "reason": "None"},
               "exit_code": {"status": ["SIGNALED"], "return_code": {"set": false, "infinite": false, "number": 0},
                             "signal": {"id": {"set": true, "infinite": false, "number": 9}, "name": "KILL"}},
               "tres": {"allocated": [{"type": "gres", "name": "gpu", "id": 1001, "count": 16}]},
               "steps": [{"step": {"id": "71.batch", "name": "batch"}, "state": ["CANCELLED"], "time": {}}]}],
     "meta": {"plugin": {"data_parser": "data_parser/v0.0.43"}}, "errors": []}

Written by Slurm 21.08 to 26.05 with the parsers dbv0.0.36 to v0.0.45, also `+complex`; a later one is read alike and its
rows flagged. `meta` decides nothing else: the keys that are there do. A record is a job object, whose steps are rows of
its own `line`, the number of the object; an entry of `errors` is a rejected record behind them. Times are UTC. The state
is a set: a flag such as REQUEUED stands over the base, as in the text form. Exit codes are the pair that the text form
prints. Of a job that has not ended the controller gives an end that it only expects, and of one that waits such a start:
they are null. Several answers in one file are read one after another. No size limit: it is read as a stream.

Of an export of several clusters each job has its own in `cluster`, as in the text form. `-T` clips here too: an open job
with an end has none (`clipped_times`); a clipped start cannot be told, since nothing is read twice.

Not read: usage (CPU time, memory, disk, energy), paths, `warnings`.

Flags: key_without_submit, elapsed_disagrees, bad_node_list, bad_tres, bad_step (the step is left out), unknown_state_flag,
unknown_parser, decoded_with_replacement, bad_elapsed, bad_exit_code, clipped_times, other_cluster.

Rejects: not_an_object, bad_job_id, bad_submit_time, bad_start_time, bad_end_time, answer_error.

Quarantine: truncated_json, bad_json, no_jobs.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._json import objects, opening, shown
from bathtub.ingest._rows import Collector, Row
from bathtub.ingest._slurm_cluster import Clusters
from bathtub.ingest._slurm_json_job import Job, reject
from bathtub.ingest._slurm_json_rows import job_row, step_rows
from bathtub.ingest._slurm_json_values import at, text
from bathtub.ingest._tres import count_gpus
from bathtub.schema import table
from bathtub.source import Quarantine, Source

JOBS, STEPS = table("jobs"), table("job_steps")
MAX_RECORDS, MAX_HELD = 2000, 1 << 17
SIGNS = {"state", "job_state", "array", "array_job_id", "allocation_nodes", "association"}
KNOWN_PARSERS = range(36, 46)
_PARSER = re.compile(r"v0\.0\.([0-9]{1,4})")


def _claims(head: bytes, _name: str) -> bool:
    keys = opening(head)
    of_job = {key for path, key in keys if path == "jobs.item"}
    if of_job:
        return "job_id" in of_job and bool(of_job & SIGNS)
    top = {key for path, key in keys if not path}
    is_answer = bool({("meta", "slurm"), ("meta", "Slurm")} & keys)
    has_no_job = not any(path.startswith("jobs") for path, _ in keys)
    return is_answer and has_no_job and ("jobs" in top or ("errors" in top and top <= {"meta", "errors", "warnings"}))


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of jobs, then the errors that the answer reports."""
    common = ["unknown_parser"] if _has_unknown_parser(source) else []
    batch, done, n_held, clusters = Collector(FORMAT.name, source), 0, 0, Clusters(source)
    records = chain(objects(source, "jobs.item"), ((each,) for each in objects(source, "errors.item")))
    for number, found in enumerate(records, start=1):
        n_held += _take(batch, number, found, common, clusters)
        if number - done >= MAX_RECORDS or n_held >= MAX_HELD:
            yield clusters.told(_finished(batch, number - done))
            batch, done, n_held = Collector(FORMAT.name, source), number, 0
    if not done and not batch.kept and not batch.rejected and not _has_jobs(source):
        raise Quarantine("no_jobs", "it has no list of jobs: name another format, or export with `sacct --json`")
    yield clusters.told(_finished(batch, batch.kept + len(batch.rejected)))


def _take(batch: Collector, number: int, found: object, common: list[str], clusters: Clusters) -> int:
    """One record to its rows or its reject; how many rows and node names they hold."""
    if isinstance(found, tuple):
        batch.reject(number, "answer_error", shown(found[0]))
        return 0
    if not isinstance(found, dict):
        batch.reject(number, "not_an_object", shown(found))
        return 0
    job = Job(found)
    reason = reject(job)
    if reason is not None:
        batch.reject(number, reason, shown(found))
        return 0
    clusters.note(number, text(job["cluster"]))
    row = job_row(job, batch.source)
    steps = list(step_rows(job, row, batch.source))
    more = [*(["bad_step"] if None in steps else []), *common]
    rows = [("jobs", row), *(("job_steps", step) for step in steps if step is not None)]
    for name, each in rows:
        batch.keep(name, each | {"line": number, "flags": [*each["flags"], *_replaced(each), *more]})  # type: ignore[misc]
    batch.kept += 1
    return sum(1 + len(each["nodes"] or ()) for _, each in rows)  # type: ignore[arg-type,misc]


def _replaced(row: Row) -> list[str]:
    is_so = any(isinstance(value, str) and "\ufffd" in value for value in row.values())
    return ["decoded_with_replacement"] if is_so else []


def _finished(collector: Collector, n_read: int) -> Batch:
    """The batch, with GPUs counted from the resources."""
    batch = collector.batch(n_read)
    counts = {"n_gpus": "alloc_tres", "n_gpus_requested": "req_tres"}
    frames: Mapping[str, pl.DataFrame] = {
        name: frame.with_columns(
            count_gpus(pl.col(tres)).alias(column) for column, tres in counts.items() if column in frame.columns
        )
        for name, frame in batch.frames.items()
    }
    return Batch(frames, batch.rejects, batch.read, batch.kept, batch.rejected, batch.out_of_scope)


def _has_unknown_parser(source: Source) -> bool:
    places = ("plugin.data_parser", "plugins.data_parser", "plugin.type")
    named = [text(at(meta, place)) or "" for meta in objects(source, "meta") for place in places]
    found = [int(version) for name in named for version in _PARSER.findall(name)]
    return any(version not in KNOWN_PARSERS for version in found)


def _has_jobs(source: Source) -> bool:
    """Whether there is a list of jobs at all."""
    return any(True for _ in objects(source, "jobs"))


FORMAT = Format("slurm_json", "2", "a job object", (JOBS, STEPS), _claims, _parse)
