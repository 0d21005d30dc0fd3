"""Four pods of a real cluster, as they were exported."""

from pathlib import Path

import pytest

from bathtub.ingest import claimants, formats
from bathtub.source import head
from tests.cases import rows_of, source, text

COLUMNS = (
    "job_id",
    "submitted_at",
    "started_at",
    "ended_at",
    "state",
    "exit_code",
    "nodes",
    "run",
    "restarts",
    "reason",
    "n_gpus",
)
ATTEMPTS = {
    "completed": """user01/bash 2020-04-21T22:03:52Z 2020-04-21T22:03:53Z 2020-04-21T22:08:53Z Succeeded 0
        kubeworker01-dev 0 0 - -""",
    "error": """user01/jupyter-h6kw06ve 2020-04-16T20:31:52Z 2020-04-16T20:32:05Z 2020-04-16T20:32:06Z Failed 1
        kubeworker01-dev 0 0 - -""",
    "crash_loop": """user-user02/jupyter-se6t7pfe 2021-07-12T18:07:28Z 2021-07-12T18:07:28Z 2021-07-12T18:07:28Z Failed 127
        kubeworker02-dev 1 1 CrashLoopBackOff -""",
    "unscheduleable": "user01/bash 2020-04-22T18:36:22Z - - Pending - - 0 - Unschedulable -",
}
N_STEPS = {"completed": 1, "error": 8, "crash_loop": 1, "unscheduleable": 0}


@pytest.mark.parametrize("case", sorted(ATTEMPTS))
def test_a_pod_is_an_attempt(corpus: Path, case: str) -> None:
    exported = source(corpus / f"scheduler/OSC-ood_core/k8s/single_{case}_pod.json")
    assert [known.name for known in claimants(head(exported.path), exported.full_name)] == ["kubernetes_json"]
    batches = list(formats()["kubernetes_json"].parse(exported))
    attempts = [[text(row[column]) or "-" for column in COLUMNS] for row in rows_of(batches, "jobs")]
    assert attempts == [ATTEMPTS[case].split()]
    assert len(list(rows_of(batches, "job_steps"))) == N_STEPS[case]


def test_the_containers_that_run_first_ended_well(corpus: Path) -> None:
    exported = source(corpus / "scheduler/OSC-ood_core/k8s/single_error_pod.json")
    steps = list(rows_of(formats()["kubernetes_json"].parse(exported), "job_steps"))
    assert [(row["exit_code"], row["reason"]) for row in steps if row["is_init"]] == [(0, "Completed")] * 7
    assert [(row["step"], row["exit_code"], row["reason"]) for row in steps if not row["is_init"]] == [("jupyter", 1, "Error")]
