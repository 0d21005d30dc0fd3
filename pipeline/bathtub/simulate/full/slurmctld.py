"""The controller's own log, rotated every day."""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from bathtub.simulate.full.events import Attempt, History, Outage
from bathtub.simulate.full.files import opened
from bathtub.simulate.full.settings import Settings, local, midnight
from bathtub.simulate.full.slurm_tables import CPUS, PARTITION, hostlist
from bathtub.simulate.full.topology import Fleet


def write(folder: Path, settings: Settings, fleet: Fleet, history: History) -> None:
    """slurmctld.log of every day."""
    said = [line for attempt in history.attempts for line in _of_attempt(fleet, attempt)]
    said += [line for outage in history.outages for line in _of_outage(fleet, outage)]
    said.sort(key=lambda line: line[0])
    for day in range(settings.n_days):
        first, last = (bisect_left(said, midnight(each), key=lambda line: line[0]) for each in (day, day + 1))
        is_current = day == settings.n_days - 1
        name = "slurmctld.log" if is_current else f"slurmctld.log-{local(midnight(day + 1)):%Y%m%d}.gz"
        with opened(folder / name, midnight(day + 1) + 60) as file:
            file.write(f"[{local(midnight(day)):%Y-%m-%dT%H:%M:%S}.101] Log file re-opened\n".encode())
            for at_s, text in said[first:last]:
                there = local(at_s)
                file.write(f"[{there:%Y-%m-%dT%H:%M:%S}.{there.microsecond // 1000:03}] {text}\n".encode())


def _of_attempt(fleet: Fleet, attempt: Attempt) -> Iterator[tuple[float, str]]:
    job, where = f"JobId={attempt.job_id}", hostlist(fleet, attempt.nodes)
    n_cpus = len(attempt.nodes) * CPUS
    yield attempt.started_s, f"sched: Allocate {job} NodeList={where} #CPUs={n_cpus} Partition={PARTITION}"
    ends, event = attempt.ended_s + 0.2, attempt.ended_by
    word = attempt.state.split()[0]
    if word == "NODE_FAIL" and attempt.failed_node is not None:
        failed = fleet.nodes[attempt.failed_node].name
        if event is not None and event.kind.ends == "launch":
            yield ends - 0.1, f"error: Prolog launch failure, {job}"
            yield ends - 0.05, f"error: Prolog/Epilog failure on nodes {failed}, set to state DRAIN"
            yield ends, f"_job_complete: requeue {job} per user/system request"
        elif event is not None and event.kind.ends == "taken":
            yield ends, f"Killing {job} on failed node {failed}"
        else:
            yield ends, f"requeue job {job} due to failure of node {failed}"
    elif word == "TIMEOUT":
        yield ends, f"Time limit exhausted for {job}"
    elif word == "OUT_OF_MEMORY":
        yield ends, f"_job_complete: {job} OOM failure"
    elif word == "CANCELLED":
        yield ends, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB {job} uid {attempt.state.split()[-1]}"
    else:
        yield ends, f"_job_complete: {job} WEXITSTATUS {attempt.exit_code.split(':')[0]}"
        yield ends + 0.001, f"_job_complete: {job} done"


def _of_outage(fleet: Fleet, outage: Outage) -> Iterator[tuple[float, str]]:
    name = fleet.nodes[outage.node].name
    if outage.state == "DOWN":
        first_s = (outage.dark[0] if outage.dark else outage.since_s) + 100
        yield min(first_s, outage.since_s - 20), f"error: Nodes {name} not responding"
        yield outage.since_s, f"error: Nodes {name} not responding, setting DOWN"
        yield outage.until_s - 5, f"Node {name} now responding"
        yield outage.until_s, f"node {name} returned to service"
        return
    if outage.state == "DRAINED":
        if outage.user == "root":
            yield outage.until_s, f"update_node: node {name} state set to IDLE"
            return
        yield outage.since_s, f"update_node: node {name} reason set to: {outage.reason}"
        state = "DOWN" if outage.reason.startswith("maintenance") else "DRAINING"
        yield outage.since_s + 0.001, f"update_node: node {name} state set to {state}"
        yield outage.until_s, f"update_node: node {name} state set to IDLE"
        return
    yield outage.until_s - 3, f"Node {name} now responding"
