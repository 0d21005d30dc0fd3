"""The shapes that schedulers are known to print each have a case: tests/ingest/SCHEDULER_SHAPES.csv says which.

`reference` is the section of the reference, with the row of its table of shapes (9.1 to 9.26), or the kind of line that was
seen in a public issue; `cases` are folders below tests/, joined by `;`.
"""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.cases import TESTS

with (TESTS / "ingest" / "SCHEDULER_SHAPES.csv").open(newline="", encoding="utf-8") as file:
    SHAPES = list(csv.DictReader(file))


@pytest.mark.parametrize("row", SHAPES, ids=lambda row: f"{row['reference']} {row['shape']}")
def test_a_shape_has_a_case(row: dict[str, str]) -> None:
    cases = row["cases"].split(";")
    assert cases
    assert [case for case in cases if not list((TESTS / case).glob("input*")) + list((TESTS / case).glob("lines.txt"))] == []


def test_no_row_of_the_table_is_missing() -> None:
    found = Counter(row["reference"] for row in SHAPES if row["reference"].startswith("9."))
    assert found == dict.fromkeys((f"9.{number}" for number in range(1, 27)), 1)


@pytest.mark.parametrize("kind, name", [("sacct row", "sacct_rows.tsv"), ("daemon line", "daemon_lines.tsv")])
def test_no_shape_seen_in_issues_is_missing(corpus: Path, kind: str, name: str) -> None:
    lines = (corpus / "scheduler" / "issue-shapes" / name).read_text(encoding="utf-8").splitlines()[1:]
    seen = Counter(line.split("\t")[0] for line in lines)
    assert Counter(row["shape"] for row in SHAPES if row["reference"] == kind) == seen
