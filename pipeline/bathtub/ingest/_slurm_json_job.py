"""A job object of Slurm's JSON: the accounting's shape and the controller's, told apart by the keys that are there."""

from collections.abc import Mapping
from datetime import UTC, datetime

from bathtub.ingest import _slurm_json_values as values
from bathtub.ingest._times import LAST_YEAR

# column: (path in the accounting's shape, path in the controller's)
PATHS = {
    "submitted_at": ("time.submission", "submit_time"),
    "started_at": ("time.start", "start_time"),
    "ended_at": ("time.end", "end_time"),
    "elapsed_s": ("time.elapsed", ""),
    "suspended_s": ("time.suspended", ""),
    "state": ("state", "job_state"),
    "reason": ("state.reason", "state_reason"),
    "array_job": ("array.job_id", "array_job_id"),
    "array_task": ("array.task_id", "array_task_id"),
    "waiting_tasks": ("array.task", "array_task_string"),
    "het_job": ("het.job_id", "het_job_id"),
    "het_offset": ("het.job_offset", "het_job_offset"),
    "n_nodes": ("allocation_nodes", "node_count"),
    "alloc_tres": ("tres.allocated", "tres_alloc_str"),
    "req_tres": ("tres.requested", "tres_req_str"),
    "per_cpu": ("required.memory_per_cpu", "memory_per_cpu"),
    "per_node": ("required.memory_per_node", "memory_per_node"),
    "timelimit": ("time.limit", "time_limit"),
    "user_name": ("user", "user_name"),
}
TIMES = {"submitted_at": "bad_submit_time", "started_at": "bad_start_time", "ended_at": "bad_end_time"}
_LAST_SECOND = int(datetime(LAST_YEAR, 1, 1, tzinfo=UTC).timestamp())


class Job:
    """One object of `jobs`, and how its columns are found.

    Of a job that has not ended the controller gives the end it expects, and of one that waits the start it plans.
    """

    def __init__(self, found: Mapping[str, object]) -> None:
        self.found = found
        self.is_controllers = "job_state" in found
        self.states = values.states(self["state"])

    def __getitem__(self, column: str) -> object:
        return values.at(self.found, PATHS.get(column, (column, column))[self.is_controllers])

    @property
    def is_clipped(self) -> bool:
        """Whether the accounting gives an end to a record that is open, as `-T` does."""
        return not self.is_controllers and values.state(self.states) in values.OPEN and bool(values.number(self["ended_at"]))

    def times(self) -> dict[str, object]:
        """The three times as they stand, without those that are only expected."""
        raw = {column: self[column] for column in TIMES}
        if self.is_clipped or (self.is_controllers and not self.states & (values.BASES - values.OPEN)):
            raw["ended_at"] = None
        if "PENDING" in self.states and (self.is_clipped or self.is_controllers):
            raw["started_at"] = None
        return raw


def reject(job: Job) -> str | None:
    """Why an object is no record of a job; None where it is one."""
    job_id = values.number(job["job_id"])
    if job_id is None or not 0 < job_id < 1 << 32:
        return "bad_job_id"
    for column, value in job.times().items():
        if values.is_bad_number(value) or not 0 <= (values.number(value) or 0) < _LAST_SECOND:
            return TIMES[column]
    return None


def instant(value: object) -> datetime | None:
    """The time of epoch seconds, None for none."""
    seconds = values.number(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds and 0 < seconds < _LAST_SECOND else None
