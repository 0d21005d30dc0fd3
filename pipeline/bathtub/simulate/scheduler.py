"""The scheduler's accounting as `sacct -a -D -P` prints it: one export a day, each over two days."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bathtub.simulate.cluster import N_DAYS, STARTED_AT, local
from bathtub.simulate.jobs import Attempt

COLUMNS = (
    "JobID", "JobIDRaw", "Submit", "Start", "End", "ElapsedRaw", "State", "ExitCode", "DerivedExitCode", "NNodes", "NodeList",
    "FailedNode", "AllocTRES", "ReqTRES", "Partition", "User", "JobName",
)  # fmt: skip
GPUS_PER_NODE, CPUS_PER_NODE, GIB_PER_NODE = 8, 96, 1900
PARTITION = "h100"
EXPORTED_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class Export:
    """One export: its name, its window, and when it was made."""

    name: str
    since: datetime
    until: datetime
    made_at: datetime


# first word of the job's state -> (state, exit code) of .batch, .extern and .0; None is the job's own
STEPS: dict[str, tuple[tuple[str | None, str | None], ...]] = {
    "COMPLETED": (("COMPLETED", "0:0"), ("COMPLETED", "0:0"), ("COMPLETED", "0:0")),
    "RUNNING": (("RUNNING", "0:0"), ("RUNNING", "0:0"), ("RUNNING", "0:0")),
    "FAILED": ((None, None), ("COMPLETED", "0:0"), (None, None)),
    "TIMEOUT": (("CANCELLED", "0:15"), ("COMPLETED", "0:0"), ("CANCELLED", "0:15")),
    "CANCELLED": (("CANCELLED", "0:15"), ("COMPLETED", "0:0"), (None, "0:15")),
    "NODE_FAIL": (("CANCELLED", ""), ("CANCELLED", ""), ("NODE_FAIL", "0:1")),
    "OUT_OF_MEMORY": (("OUT_OF_MEMORY", "0:125"), ("OUT_OF_MEMORY", "0:125"), ("OUT_OF_MEMORY", "0:125")),
}
STEP_NAMES = (("batch", "batch"), ("extern", "extern"), ("0", "train"))


def exports() -> list[Export]:
    """One a day, shortly after its end; each covers the day before too, so that an open job is met again."""
    found = []
    for day in range(N_DAYS):
        start = STARTED_AT + timedelta(days=day)
        stop = start + timedelta(days=1)
        since = max(STARTED_AT, start - timedelta(days=1))
        found.append(Export(f"sacct-{local(start):%Y-%m-%d}.txt", since, stop, stop + EXPORTED_AFTER))
    return found


def text(export: Export, attempts: list[Attempt]) -> bytes:
    """The content of one export: attempts that overlap its window, as they stood when it was made."""
    rows = ["|".join(COLUMNS)]
    for attempt in sorted(attempts, key=lambda each: (each.job_id, each.submitted_at)):
        if attempt.submitted_at < export.until and attempt.ended_at > export.since:
            rows += ("|".join(cells) for cells in _rows(attempt, export.made_at))
    return ("\n".join(rows) + "\n").encode()


def _rows(attempt: Attempt, made_at: datetime) -> Iterator[tuple[str, ...]]:
    """The row of an attempt and those of its steps."""
    if attempt.started_at is None or attempt.started_at > made_at:
        yield _waiting(attempt, made_at)
        return
    is_open = attempt.ended_at > made_at
    state, exit_code = ("RUNNING", "0:0") if is_open else (attempt.state, attempt.exit_code)
    until = made_at if is_open else attempt.ended_at
    times = (
        _time(attempt.started_at),
        "Unknown" if is_open else _time(attempt.ended_at),
        str((until - attempt.started_at) // timedelta(seconds=1)),
    )
    tres, number = _tres(attempt.n_nodes), str(attempt.job_id)
    where = (str(attempt.n_nodes), _hostlist(attempt.nodes))
    failed_node = "" if is_open else attempt.failed_node
    derived = exit_code if state == "FAILED" else "0:0"
    who = (PARTITION, attempt.user, attempt.name)
    yield (
        number,
        number,
        _time(attempt.submitted_at),
        *times,
        state,
        exit_code,
        derived,
        *where,
        failed_node,
        tres,
        f"billing=0,{tres}",
        *who,
    )
    for (step, name), (own_state, own_code) in zip(STEP_NAMES, STEPS[state.split()[0]], strict=True):
        place = ("1", attempt.nodes[0]) if step == "batch" else where
        said = (own_state or state, exit_code if own_code is None else own_code)
        step_id = f"{number}.{step}"
        yield (step_id, step_id, _time(attempt.started_at), *times, *said, "", *place, "", tres, "", "", "", name)


def _waiting(attempt: Attempt, made_at: datetime) -> tuple[str, ...]:
    """The row of a job that has not started, or never did."""
    number, is_open = str(attempt.job_id), attempt.started_at is not None or attempt.ended_at > made_at
    times = ("Unknown", "Unknown") if is_open else ("None", _time(attempt.ended_at))
    state = "PENDING" if is_open else attempt.state
    asked = f"billing=0,{_tres(attempt.n_nodes)}"
    who = (PARTITION, attempt.user, attempt.name)
    submitted = _time(attempt.submitted_at)
    return (
        number,
        number,
        submitted,
        *times,
        "0",
        state,
        "0:0",
        "0:0",
        str(attempt.n_nodes),
        "None assigned",
        "",
        "",
        asked,
        *who,
    )


def _tres(n_nodes: int) -> str:
    """What a job of whole nodes holds."""
    n_gpus = n_nodes * GPUS_PER_NODE
    return f"cpu={n_nodes * CPUS_PER_NODE},gres/gpu={n_gpus},gres/gpu:h100={n_gpus},mem={n_nodes * GIB_PER_NODE}G,node={n_nodes}"


def _time(seen_at: datetime) -> str:
    """Local time without a zone, as the tool prints by default."""
    return f"{local(seen_at):%Y-%m-%dT%H:%M:%S}"


def _hostlist(nodes: tuple[str, ...]) -> str:
    """`gpu-a[01-03,07]`: names in order, neighbours as ranges."""
    if len(nodes) == 1:
        return nodes[0]
    runs: list[list[int]] = []
    for number in sorted(int(node[-2:]) for node in nodes):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = (f"{run[0]:02}" if len(run) == 1 else f"{run[0]:02}-{run[-1]:02}" for run in runs)
    return f"{nodes[0][:-2]}[{','.join(parts)}]"
