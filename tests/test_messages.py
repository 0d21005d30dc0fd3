"""Every grammar reads its cases: tests/messages/<grammar>/<case>/{lines.txt, rows.csv, rejects.csv}.

The first column of the expected CSVs is the line of lines.txt, from 1. Lines in neither are not the grammar's business.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bathtub.ingest._messages import Reject, grammars
from tests.cases import compare, folders, name

BY_NAME = {grammar.name: grammar for grammar in grammars()}


@pytest.mark.parametrize("case", folders("messages"), ids=name)
def test_a_case_gives_its_rows(case: Path) -> None:
    grammar, rows, rejects = BY_NAME[case.parent.name], [], []
    for number, line in enumerate((case / "lines.txt").read_text(encoding="utf-8").splitlines(), start=1):
        said = grammar.parse(line)
        if isinstance(said, Reject):
            rejects.append({"line": number, "reason": said.reason})
        elif said is not None:
            assert any(literal in line.encode() for literal in grammar.literals), "the scan would never see this line"
            empty = dict.fromkeys(column.name for column in grammar.table.columns)
            rows += [{**empty, **row, "line": number} for row in ([said] if isinstance(said, Mapping) else said)]
    compare(case / "rows.csv", rows)
    compare(case / "rejects.csv", rejects)


def test_every_grammar_has_a_case() -> None:
    assert {case.parent.name for case in folders("messages")} == set(BY_NAME)


def test_the_literals_stay_below_the_cliff_of_the_vector_search() -> None:
    literals = {literal for grammar in grammars() for literal in grammar.literals}
    assert len(literals) <= 64
    assert all(len(literal) >= 4 for literal in literals)
