"""Answers depend on what is in the logs alone: not on the order of rows, the number of threads, or unrelated sources."""

import random
from datetime import UTC, datetime, timedelta
from functools import cache

import polars as pl
import pytest

from bathtub.warehouse import marts
from tests import frames

LATER = datetime(2026, 4, 1, tzinfo=UTC)
STRANGER = {"seen_at": LATER, "node": "stranger-1", "pci_bdf": "0000:99:00", "raw": "a stranger's line"}


def text(frame: pl.DataFrame) -> str:
    """A frame as lines of JSON in sorted order."""
    return "\n".join(sorted(frame.write_ndjson().splitlines()))


def answers(lake: frames.Frames, threads: int) -> dict[str, str]:
    """Every mart over a lake as text."""
    with frames.warehouse(lake, threads) as con:
        return {name: text(con.table(name).pl()) for name in marts()}


@cache
def plain() -> dict[str, str]:
    return answers(frames.demo(), 2)


def shuffled(lake: frames.Frames, seed: int) -> frames.Frames:
    """The same rows in another order, tables too."""
    chance = random.Random(seed)
    names = chance.sample(sorted(lake), len(lake))
    return {name: lake[name].sample(fraction=1, shuffle=True, seed=chance.randrange(2**32)) for name in names}


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    found = answers(shuffled(frames.demo(), seed), 2)
    assert [name for name in found if found[name] != plain()[name]] == []


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_rows_that_collide_changes_nothing(seed: int) -> None:
    lake = frames.random_lake(seed, 20)
    expected, found = answers(lake, 2), answers(shuffled(lake, seed), 2)
    assert [name for name in found if found[name] != expected[name]] == []


def test_the_number_of_threads_changes_nothing() -> None:
    found = answers(frames.demo(), 1)
    assert [name for name in found if found[name] != plain()[name]] == []


def with_strangers(lake: frames.Frames) -> frames.Frames:
    """The lake and a source of a node that nothing else names, a month later: another log, another job's record."""
    source = lake["sources"].head(1).with_columns(source_id=pl.lit("stranger"), name=pl.lit("stranger-1/kern.log"))
    faults = lake["gpu_faults"].head(5).with_columns(source_id=pl.lit("stranger"), **{k: pl.lit(v) for k, v in STRANGER.items()})
    times = dict.fromkeys(("submitted_at", "started_at", "seen_at"), LATER)
    jobs = lake["jobs"].filter(state="FAILED").head(1)
    jobs = jobs.with_columns(
        source_id=pl.lit("stranger"),
        job_id=pl.lit("999999"),
        job_id_raw=pl.lit("999999"),
        nodes=pl.lit(["stranger-1"]),
        ended_at=pl.lit(LATER + timedelta(hours=1)),
        **{k: pl.lit(v) for k, v in times.items()},
    )
    added = {"sources": source, "gpu_faults": faults, "jobs": jobs}
    return {name: pl.concat([frame, added[name].cast(frame.schema)]) if name in added else frame for name, frame in lake.items()}


@pytest.mark.parametrize("mart", ["incidents", "verdicts", "incident_evidence"])
def test_unrelated_sources_leave_every_incident_as_it_was(mart: str) -> None:
    before = set(plain()[mart].splitlines())
    after = set(answers(with_strangers(frames.demo()), 2)[mart].splitlines())
    assert before < after


def test_incidents_stay_when_a_log_is_there_twice() -> None:
    """A copy under another name (a rotated file, a second collector) adds no incident and changes no id."""
    lake = dict(frames.demo())
    copied = lake["gpu_faults"]["source_id"].mode().to_list()
    for name in ("sources", "gpu_faults", "coverage"):
        copy = (
            lake[name].filter(pl.col("source_id").is_in(copied)).with_columns(source_id=pl.concat_str(pl.lit("zz"), "source_id"))
        )
        lake[name] = pl.concat([lake[name], copy])
    found = answers(lake, 2)
    assert [name for name in found if found[name] != plain()[name]] == []
