"""What `sacct` prints comes back exactly, or is rejected; no cell ever stands in another column.

The tables are written here, by no code of the package: nothing is escaped, as in Slurm's own printing.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bathtub.ingest import formats
from tests.cases import rows_of, source, text

Cells: TypeAlias = Mapping[str, bytes]
Rows: TypeAlias = list[dict[str, object]]

TEXTS = {"JobName": "job_name", "SubmitLine": "submit_line", "Reason": "reason"}
NAMES = {"User": "user_name", "Partition": "partition_name", "Account": "account"}
LISTS = {"AllocTRES": "alloc_tres", "ReqTRES": "req_tres", "NodeList": "node_list"}
TIMES = {"Submit": "submitted_at", "Start": "started_at", "End": "ended_at"}
COLUMNS = ("JobID", "State", *TIMES, "ExitCode", "ElapsedRaw", *NAMES, *LISTS, *TEXTS, "Comment")
DELIMITERS = ("|", "|#", "^|^", "\x1f", "\N{SNOWMAN}", "\t", ",")
TRES = (b"", b"cpu=96", b"cpu=96,gres/gpu:a100=8,node=2")
PIECES = (
    b"a", b"job", b" ", b"\n", b"\r", b"\r\n", b'"', b"'", b"\0", b"\xff", b"\xc3", "b\ufeff".encode(), "\u2028".encode(),
    b"\x1b[31m", b",", b"=", b"\t", b"\\n", "\N{LATIN SMALL LETTER U WITH DIAERESIS}".encode(), b"|", b"#", b"^",
)  # fmt: skip
STATES = (b"FAILED", b"COMPLETED", b"NODE_FAIL", b"CANCELLED by 1001", b"OUT_OF_MEMORY")


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[str, ...], str, list[Cells]]:
    """Columns in any order, a delimiter, and rows of which each fourth has hostile texts."""
    others = draw(st.lists(st.sampled_from(COLUMNS[2:]), unique=True, max_size=7))
    columns = tuple(draw(st.permutations(["JobID", "State", *others])))
    delimiter = draw(st.sampled_from(DELIMITERS))
    hostile = st.lists(st.sampled_from([*PIECES, delimiter.encode()]), max_size=5).map(b"".join)
    rows: list[Cells] = []
    for number in range(1, 4 * draw(st.integers(1, 3)) + 1):
        row = {
            "JobID": str(number).encode() + draw(st.sampled_from([b"", b".batch", b".0"])),
            "State": draw(st.sampled_from(STATES)),
        }
        row |= {name: str(1750000000 + number).encode() for name in TIMES} | {"ExitCode": b"1:0", "ElapsedRaw": b"0"}
        row |= {name: draw(st.sampled_from([b"", b"ada", b"gpu-1"])) for name in NAMES}
        row |= {name: draw(st.sampled_from(TRES)) for name in ("AllocTRES", "ReqTRES")}
        row |= {"NodeList": draw(st.sampled_from([b"", b"n01", b"n[01,03]", b"n01,gpu5"]))}
        row |= {name: draw(hostile) if number % 4 == 1 else b"plain" for name in (*TEXTS, "Comment")}
        rows.append(row)
    return columns, delimiter, rows


def written(columns: Sequence[str], delimiter: str, rows: Sequence[Cells], *, has_header: bool, is_trailing: bool) -> bytes:
    """The table as `sacct -P` prints it, or `-p` (a delimiter behind each row), with a header or without (`-n`)."""
    lines = [[name.encode() for name in columns]] if has_header else []
    lines += [[row[name] for name in columns] for row in rows]
    mark = delimiter.encode()
    return b"".join(mark.join(line) + (mark if is_trailing else b"") + b"\n" for line in lines)


def expected(row: Cells, column: str) -> str:
    """The cell of a row as it must come back, as text."""
    cell = row[column].decode("utf-8", "replace")
    if column in TIMES:
        return text(datetime.fromtimestamp(int(cell), UTC))
    return cell.removesuffix(" by 1001") if column == "State" else cell


def comes_back(found: Mapping[str, object], row: Cells, columns: Sequence[str], *, is_trailing: bool) -> bool:
    """Whether each cell that is read is that of the row, but for lines that a text has lost to rejects at the table's edges."""
    names = {**TEXTS, **NAMES, **LISTS, **TIMES, "State": "state"}
    pairs = {
        column: (expected(row, column), text(found[names[column]]))
        for column in columns
        if column in names and names[column] in found
    }
    misread = {column for column, (want, got) in pairs.items() if want != got}
    return all(column in TEXTS and _is_cut(*pairs[column], columns, column, is_trailing=is_trailing) for column in misread)


def _is_cut(want: str, got: str, columns: Sequence[str], column: str, *, is_trailing: bool) -> bool:
    """Of the first column's text the last lines may be left, of the last column's the first; blank lines at its end are lost."""
    is_start = (
        column == columns[-1]
        and not is_trailing
        and (want.startswith(got + "\n") or want.rstrip(" \t\r\n") == got.rstrip(" \t\r\n"))
    )
    return is_start or (column == columns[0] and want.endswith("\n" + got))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sacct") / "input"


@pytest.mark.parametrize("is_trailing", [False, True], ids=["P", "p"])
@pytest.mark.parametrize("has_header", [True, False], ids=["header", "none"])
@settings(max_examples=40)
@given(table=tables())
def test_a_table_comes_back_or_is_rejected(
    path: Path, has_header: bool, is_trailing: bool, table: tuple[tuple[str, ...], str, list[Cells]]
) -> None:
    columns, delimiter, rows = table
    path.write_bytes(written(columns, delimiter, rows, has_header=has_header, is_trailing=is_trailing))
    told: dict[str, object] = {"format": "slurm_sacct", "columns": columns, "delimiter": delimiter}
    if has_header:
        told = {"delimiter": delimiter} if delimiter == "," else {}
    check(path, columns, rows, told, is_trailing=is_trailing)


def check(path: Path, columns: Sequence[str], rows: Sequence[Cells], told: Mapping[str, object], *, is_trailing: bool) -> None:
    """Each record of a file is one of the rows, or rejected."""
    batches = list(formats()["slurm_sacct"].parse(source(path, **told)))
    assert sum(batch.read for batch in batches) == sum(batch.kept + batch.rejected + batch.out_of_scope for batch in batches)
    printed = {row["JobID"].decode(): row for row in rows}
    kept: Rows = [
        *rows_of(batches, "jobs"),
        *({**row, "job_id": f"{row['job_id']}.{row['step']}"} for row in rows_of(batches, "job_steps")),
    ]
    assert len({row["job_id"] for row in kept}) == len(kept)
    for row in kept:
        assert comes_back(row, printed[str(row["job_id"])], columns, is_trailing=is_trailing), row
    assert {row["job_id"] for row in kept} == set(printed) or any(batch.rejected for batch in batches)


ENDS = (
    ("JobID", "State", "JobName", "Reason"),
    ("JobName", "JobID", "State", "SubmitLine", "Reason"),
    ("JobID", "State", "Comment", "User", "Reason", "JobName"),
)


@pytest.mark.parametrize("columns", ENDS, ids=["two_last", "one_first_two_last", "a_name_between"])
@settings(max_examples=60)
@given(cells=st.lists(st.tuples(*[st.text("ab|\n", max_size=5)] * 4), min_size=1, max_size=4))
def test_texts_side_by_side_come_back_or_are_rejected(
    path: Path, columns: tuple[str, ...], cells: list[tuple[str, str, str, str]]
) -> None:
    names = (*TEXTS, "Comment")
    rows = [
        {"JobID": b"%d" % number, "State": b"FAILED", "User": b"ada"}
        | {name: cell.encode() for name, cell in zip(names, texts, strict=True)}
        for number, texts in enumerate(cells, start=1)
    ]
    path.write_bytes(written(columns, "|", rows, has_header=True, is_trailing=False))
    check(path, columns, rows, {}, is_trailing=False)


@pytest.mark.parametrize(
    "columns", [("JobID", "State", "AllocTRES", "NodeList", "JobName"), ("JobID", "AllocTRES", "JobName", "NodeList", "State")]
)
@given(data=st.data())
def test_lists_between_commas_come_back_or_are_rejected(path: Path, columns: tuple[str, ...], data: st.DataObject) -> None:
    rows = [
        {
            "JobID": b"%d" % number,
            "State": b"FAILED",
            "AllocTRES": data.draw(st.sampled_from(TRES)),
            "NodeList": data.draw(st.sampled_from([b"n01", b"n[01,03]", b"n01,n02"])),
            "JobName": data.draw(st.text("a,\n=", max_size=4)).encode(),
        }
        for number in range(1, 4)
    ]
    path.write_bytes(written(columns, ",", rows, has_header=True, is_trailing=False))
    check(path, columns, rows, {"delimiter": ","}, is_trailing=False)
