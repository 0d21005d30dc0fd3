"""Real exports of Kubernetes give the values that were counted by hand (SOURCES.md of the corpus)."""

from datetime import UTC, datetime
from pathlib import Path

from bathtub.ingest import formats
from tests.cases import rows_of, source

KSPAN = "scheduler/kspan/events.docs-1-14.yaml"
REASONS = """
ScalingReplicaSet SuccessfulCreate Scheduled Pulled Created Started ScalingReplicaSet Killing SuccessfulDelete SuccessfulDelete
Killing Sync SuccessfulCreate Scheduled
"""


def test_events_of_kspan(corpus: Path) -> None:
    batches = list(formats()["kubernetes_yaml"].parse(source(corpus / KSPAN)))
    events = list(rows_of(batches, "scheduler_events"))
    assert [sum(getattr(each, name) for each in batches) for name in ("read", "kept", "rejected", "out_of_scope")] == [
        14,
        14,
        0,
        0,
    ]
    assert [each["reason"] for each in events] == REASONS.split()
    assert {(each["event"], each["event_type"], each["time_quality"]) for each in events} == {("object_event", "Normal", "exact")}
    assert [each["flags"] for each in events] == [[]] * 14
    assert len({each["record_uid"] for each in events}) == 14


def test_an_event_of_twelve_days_and_one_without_first_and_last(corpus: Path) -> None:
    *_, grown, placed = rows_of(formats()["kubernetes_yaml"].parse(source(corpus / KSPAN)), "scheduler_events")
    first_at, last_at = datetime(2021, 2, 5, 8, 48, 34, tzinfo=UTC), datetime(2021, 2, 17, 14, 21, 2, tzinfo=UTC)
    assert (grown["n_events"], grown["first_at"], grown["last_at"], grown["seen_at"]) == (15, first_at, last_at, last_at)
    at = datetime(2021, 2, 17, 14, 21, 2, 722817, tzinfo=UTC)
    assert (placed["n_events"], placed["seen_at"], placed["first_at"], placed["last_at"]) == (None, at, at, at)
    assert (placed["object_kind"], placed["object_name"], placed["reporter"]) == ("Pod", "ingester-3", "default-scheduler")


def test_the_node_is_that_of_the_kubelet_alone(corpus: Path) -> None:
    events = rows_of(formats()["kubernetes_yaml"].parse(source(corpus / KSPAN)), "scheduler_events")
    assert {(each["node"] is not None, each["reporter"] == "kubelet") for each in events} == {(True, True), (False, False)}
