"""What other tools read wrongly, each report with the cases that show what is right: tests/bug_reports.csv.

The reports are public issues of tools that read the same evidence; the inputs of the cases are our own.
"""

from tests.cases import TESTS, read_table

REPORTS = 29
HEADER, ROWS = read_table(TESTS / "bug_reports.csv")
FOUND = [dict(zip(HEADER, row, strict=True)) for row in ROWS]


def test_no_report_is_missing() -> None:
    assert [each["number"] for each in FOUND] == [str(number) for number in range(1, REPORTS + 1)]
    assert [each for each in FOUND if not all(each.values())] == []


def test_every_case_of_a_report_is_there() -> None:
    named = [case for each in FOUND for case in each["cases"].split(";")]
    assert [case for case in named if not any((TESTS / case).glob("*.csv"))] == []
