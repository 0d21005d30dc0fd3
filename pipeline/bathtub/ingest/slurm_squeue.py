r"""Text of Slurm's `squeue`: the jobs that wait and run, at the time it was run.

    squeue -a -h -o '%i|%A|%T|%V|%S|%M|%D|%N|%P|%u|%l|%j'       needs its columns in the configuration
    JOBID|JOBID|STATE|SUBMIT_TIME|START_TIME|TIME|NODES|NODELIST|PARTITION|USER|TIME_LIMIT|NAME
    100_4|104|RUNNING|2026-03-01T08:00:00|2026-03-01T08:00:05|1:05|2|gpu-[03-04]|train|ann|1-00:00:00|pretrain

Written by Slurm 20.11 to 26.05, with `-o` or `-O`. Columns are found by the names of the header, in any order and number;
text without one (`-h`) needs the format, its columns and its delimiter in the configuration. Without a delimiter columns are
told apart by blanks. A record is a row and gives one row of `jobs`. Of two columns JOBID, one shows array tasks (`100_4`), the
other has the job's own number. The end of a job that runs and the start of one that waits are only expected, so null.
Repeated headers, dates of `-l` and messages of the client are out of scope.

`seen_at` is when the file was collected. The default columns cut names; they are read, but ask for the columns above.

Not read: priorities, features, paths, what a job waits for. MIN_MEMORY is read without its basis, which it does not tell.

Flags: those of `slurm_sacct`.
Rejects: field_count, bad_job_id, bad_job_id_raw, bad_submit_time, bad_start_time, bad_end_time, line_too_long.
Quarantine: zone_required, columns_required.
"""

import re
from collections.abc import Iterator, Mapping

from bathtub.ingest import Batch, Format
from bathtub.ingest._job_snapshots import MAX_WEIGHT, Cells, weight, with_jobs
from bathtub.ingest._rows import Collector
from bathtub.ingest._slurm_table import opening, records
from bathtub.schema import table
from bathtub.source import Source

FREE = frozenset({"NAME", "COMMENT", "COMMAND", "WORK_DIR", "REASON", "NODELIST(REASON)", "FEATURES"})
COLUMNS = {
    "State": ("STATE", "ST"), "Submit": ("SUBMIT_TIME",), "Start": ("START_TIME",), "End": ("END_TIME",), "Elapsed": ("TIME",),
    "NNodes": ("NODES",), "NodeList": ("NODELIST",), "Partition": ("PARTITION",), "Account": ("ACCOUNT",), "User": ("USER",),
    "QOS": ("QOS",), "JobName": ("NAME",), "Reason": ("REASON",), "Timelimit": ("TIME_LIMIT",), "ReqMem": ("MIN_MEMORY",),
    "AllocTRES": ("TRES_ALLOC",),
}  # fmt: skip
SHOWN, OWN = "JOBID", "JOBID#2"
BATCH_ROWS = 50_000
_NAME = re.compile(r"[A-Z][A-Z0-9_:/]*(?:\(REASON\))?")


def _claims(head: bytes, _name: str) -> bool:
    found = opening(head, FREE)
    names = found.names if found else ()
    return all(_NAME.fullmatch(name) for name in names) and SHOWN in names and not {"STATE", "ST"}.isdisjoint(names)


def _cells(found: Mapping[str, str]) -> Cells:
    """The cells of a row by the names of `sacct`."""
    task = tuple(found.get(name, "") for name in ("ARRAY_JOB_ID", "ARRAY_TASK_ID"))
    ids = [found[name] for name in (SHOWN, OWN) if found.get(name)]
    array = "_".join(task) if all(part.isdigit() for part in task) else found.get(SHOWN)
    shown = next((each for each in ids if not each.isdigit()), array)
    own = next((each for each in ids if each.isdigit()), None)
    cells = {name: next((found[each] for each in places if found.get(each)), None) for name, places in COLUMNS.items()}
    both = found.get("NODELIST(REASON)", "")
    mixed = {"Reason": both.strip("()")} if both.startswith("(") else {"NodeList": both} if both else {}
    return {**cells, "JobID": shown, "JobIDRaw": own, **mixed}


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export."""
    jobs: list[tuple[int, Cells, str]] = []
    rest, n_read, n_held = Collector(FORMAT.name, source), 0, 0
    for record in records(source, FREE, frozenset({SHOWN})):
        n_read += 1
        if record.cells is not None:
            jobs.append((record.line, _cells(record.cells), record.raw))
            n_held += weight(jobs[-1][1])
        elif record.reason is not None:
            rest.reject(record.line, record.reason, record.raw)
        if n_read >= BATCH_ROWS or n_held >= MAX_WEIGHT:
            yield with_jobs(rest.batch(n_read), jobs, FORMAT.name, source)
            jobs, rest, n_read, n_held = [], Collector(FORMAT.name, source), 0, 0
    yield with_jobs(rest.batch(n_read), jobs, FORMAT.name, source)


FORMAT = Format("slurm_squeue", "2", "a row", (table("jobs"),), _claims, _parse)
