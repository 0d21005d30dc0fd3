"""Every format reads its cases: tests/ingest/<format>/<case>/{input.*, rows.csv, <table>.csv, rejects.csv, counts.csv}.

rows.csv is the format's first table; further tables stand under their names. Expected CSVs name the columns that the
case is about. settings.toml holds what the configuration would say. `quarantine.txt` holds the reason where the whole
file must be refused.
"""

from pathlib import Path

import pytest

from bathtub.ingest import Quarantine, claimants, formats
from bathtub.source import head
from tests.cases import TESTS, case_source, compare, folders, name, rows_of

CASES = folders("ingest")


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_case_gives_its_rows(case: Path) -> None:
    source, known = case_source(case), formats()[case.parent.name]
    refused = case / "quarantine.txt"
    if refused.exists():
        with pytest.raises(Quarantine) as outcome:
            list(known.parse(source))
        assert outcome.value.reason == refused.read_text().strip()
        return
    batches = list(known.parse(source))
    for table in known.tables:
        file = case / ("rows.csv" if table is known.tables[0] else f"{table.name}.csv")
        if file.exists() or table is known.tables[0]:
            compare(file, rows_of(batches, table.name))
    compare(case / "rejects.csv", rows_of(batches, "rejects"))
    totals = {key: sum(getattr(batch, key) for batch in batches) for key in ("read", "kept", "rejected", "out_of_scope")}
    assert totals["read"] == totals["kept"] + totals["rejected"] + totals["out_of_scope"]
    if (case / "counts.csv").exists():
        compare(case / "counts.csv", [totals])


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_case_is_claimed_by_its_own_format_alone(case: Path) -> None:
    source = case_source(case)
    claimed = [known.name for known in claimants(head(source.path), source.full_name)]
    assert claimed == ([] if source.settings.format else [case.parent.name])


def test_every_format_has_a_case() -> None:
    assert {case.parent.name for case in CASES} == set(formats())


def test_no_case_folder_without_a_format() -> None:
    assert {folder.name for folder in (TESTS / "ingest").iterdir() if folder.is_dir()} <= set(formats())
