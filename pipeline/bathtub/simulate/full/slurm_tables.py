"""The scheduler's tables: sacct day by day with overlaps, sinfo every day, scontrol and sacctmgr's events every week."""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from bathtub.simulate.full.events import Attempt, History, Outage
from bathtub.simulate.full.files import opened
from bathtub.simulate.full.settings import CLUSTER, GPUS_PER_NODE, HOUR_S, Settings, local, midnight
from bathtub.simulate.full.topology import Fleet
from bathtub.simulate.full.wrappers import epoch

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "Submit", "Start", "End", "ElapsedRaw", "State", "ExitCode", "DerivedExitCode", "NNodes",
    "NodeList", "FailedNode", "AllocTRES", "ReqTRES", "Partition", "User", "JobName",
)  # fmt: skip
CPUS, GIB, PARTITION = 96, 1900, "h100"
# state -> (state, exit code) of .batch, .extern and .0; None is the job's own
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


def hostlist(fleet: Fleet, nodes: tuple[int, ...]) -> str:
    """`hgx-[001-003,007]`: neighbours as ranges."""
    names = [fleet.nodes[node].name for node in sorted(nodes)]
    if len(names) == 1:
        return names[0]
    stem, width = names[0].rpartition("-")[0], len(names[0].rpartition("-")[2])
    runs: list[list[int]] = []
    for node in sorted(nodes):
        if runs and node + 1 == runs[-1][-1] + 1:
            runs[-1].append(node + 1)
        else:
            runs.append([node + 1])
    parts = (f"{run[0]:0{width}}" if len(run) == 1 else f"{run[0]:0{width}}-{run[-1]:0{width}}" for run in runs)
    return f"{stem}-[{','.join(parts)}]"


def write(folder: Path, settings: Settings, fleet: Fleet, history: History) -> None:
    """Every table, a file at a time."""
    attempts = sorted(history.attempts, key=lambda each: (each.submitted_s, each.job_id))
    longest_s = max((each.ended_s - each.submitted_s for each in attempts), default=0.0)
    lists = {id(each): hostlist(fleet, each.nodes) for each in attempts}
    for day in range(settings.n_days):
        since_s, until_s = max(midnight(day - 1), 0.0), midnight(day + 1)
        first = bisect_left(attempts, since_s - longest_s, key=lambda each: each.submitted_s)
        last = bisect_left(attempts, until_s, key=lambda each: each.submitted_s)
        with opened(folder / f"sacct-{local(midnight(day)):%Y-%m-%d}.txt", until_s + 300) as file:
            file.write(("|".join(COLUMNS) + "\n").encode())
            for attempt in attempts[first:last]:
                if attempt.ended_s > since_s:
                    text = "".join("|".join(row) + "\n" for row in _rows(attempt, until_s + 300, lists[id(attempt)], fleet))
                    file.write(text.encode())
        _sinfo(folder, fleet, history.outages, midnight(day) + 23.5 * HOUR_S)
    _events(folder, settings, fleet, history.outages)
    _scontrol(folder, settings, fleet, history.outages)


def _rows(attempt: Attempt, made_s: float, where: str, fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """The row of an attempt and those of its steps, as they stood when the export was made."""
    number, n_nodes = str(attempt.job_id), len(attempt.nodes)
    tres = f"cpu={n_nodes * CPUS},gres/gpu={n_nodes * GPUS_PER_NODE},mem={n_nodes * GIB}G,node={n_nodes}"
    who, submitted = (PARTITION, attempt.user, attempt.name), str(epoch(attempt.submitted_s))
    if attempt.started_s > made_s:
        waiting = ("Unknown", "Unknown", "0", "PENDING", "0:0", "0:0", str(n_nodes), "None assigned", "", "", tres)
        yield (number, number, CLUSTER, submitted, *waiting, *who)
        return
    is_open = attempt.ended_s > made_s
    state, code = ("RUNNING", "0:0") if is_open else (attempt.state, attempt.exit_code)
    start, end = epoch(attempt.started_s), epoch(made_s if is_open else attempt.ended_s)
    times = (str(start), "Unknown" if is_open else str(end), str(end - start))
    failed = fleet.nodes[attempt.failed_node].name if attempt.failed_node is not None and not is_open else ""
    derived = code if state == "FAILED" else "0:0"
    yield (number, number, CLUSTER, submitted, *times, state, code, derived, str(n_nodes), where, failed, tres, tres, *who)
    for (step, name), (own_state, own_code) in zip(STEP_NAMES, STEPS[state.split()[0]], strict=True):
        said = (own_state or state, code if own_code is None else own_code)
        place = ("1", fleet.nodes[attempt.nodes[0]].name) if step == "batch" else (str(n_nodes), where)
        step_id = f"{number}.{step}"
        yield (step_id, step_id, CLUSTER, str(start), *times, *said, "", *place, "", tres, "", "", "", name)


def _sinfo(folder: Path, fleet: Fleet, outages: list[Outage], at_s: float) -> None:
    """`sinfo -N -o '%N|%T|%E|%H|%u'` of the nodes out of use."""
    with opened(folder / f"sinfo-{local(at_s):%Y-%m-%d}.txt", at_s) as file:
        file.write(b"NODELIST|STATE|REASON|TIMESTAMP|USER\n")
        for outage in outages:
            if outage.since_s <= at_s < outage.until_s:
                state = {"DOWN": "down*", "DRAINED": "drained", "MAINT": "maint"}[outage.state]
                since = f"{local(outage.since_s):%Y-%m-%dT%H:%M:%S}"
                row = (fleet.nodes[outage.node].name, state, outage.reason, since, outage.user)
                file.write(("|".join(row) + "\n").encode())


def _events(folder: Path, settings: Settings, fleet: Fleet, outages: list[Outage]) -> None:
    """`sacctmgr -P show event All_Time`, made every week: open rows come again, closed."""
    for day in [*range(7, settings.n_days, 7), settings.n_days]:
        made_s = midnight(day) + 600
        with opened(folder / f"events-{local(midnight(day) - 1):%Y-%m-%d}.txt", made_s) as file:
            file.write(b"Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n")
            for outage in outages:
                if outage.since_s <= made_s:
                    until = str(epoch(outage.until_s)) if outage.until_s <= made_s else "Unknown"
                    state = {"DOWN": "DOWN*", "DRAINED": "DRAIN", "MAINT": "MAINT"}[outage.state]
                    who = {"slurm": "slurm(1000)", "root": "root(0)", "ops": "ops(4000)"}[outage.user]
                    row = (CLUSTER, fleet.nodes[outage.node].name, str(epoch(outage.since_s)), until, state, outage.reason, who)
                    file.write(("|".join(row) + "\n").encode())


def _scontrol(folder: Path, settings: Settings, fleet: Fleet, outages: list[Outage]) -> None:
    """`scontrol show node`, every week."""
    for day in range(0, settings.n_days, 7):
        at_s = midnight(day) + 12 * HOUR_S
        out = {outage.node: outage for outage in outages if outage.since_s <= at_s < outage.until_s}
        with opened(folder / f"nodes-{local(at_s):%Y-%m-%d}.txt", at_s) as file:
            for node in fleet.nodes:
                outage = out.get(node.index)
                state = {None: "ALLOCATED", "DOWN": "DOWN+NOT_RESPONDING", "DRAINED": "IDLE+DRAIN", "MAINT": "IDLE+MAINTENANCE"}[
                    outage.state if outage else None
                ]
                text = f"NodeName={node.name} Arch=x86_64 CoresPerSocket=48\n   Gres=gpu:h100:8(S:0-1)\n"
                text += f"   State={state} ThreadsPerCore=1\n"
                text += f"   CfgTRES=cpu={CPUS},mem={GIB}G,billing={CPUS},gres/gpu={GPUS_PER_NODE}\n"
                if outage:
                    text += f"   Reason={outage.reason} [{outage.user}@{local(outage.since_s):%Y-%m-%dT%H:%M:%S}]\n"
                file.write((text + "\n").encode())
