"""What the drivers share: cases as folders, tables as CSV, values as text."""

import csv
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl

from bathtub.ingest import Batch
from bathtub.source import MAX_EXPANDED, Settings, Source, digest, identify

TESTS = Path(__file__).parent
COLLECTED_AT = datetime(2026, 6, 1, tzinfo=UTC)


def folders(root: str) -> list[Path]:
    """The case folders below tests/<root>/<thing>/."""
    return sorted(case for case in (TESTS / root).glob("*/*") if case.is_dir())


def name(case: Path) -> str:
    """The id of a case: thing/case."""
    return f"{case.parent.name}/{case.name}"


def text(value: object) -> str:
    """A value as it stands in an expected CSV: null is empty, lists are joined by `;`, times end in Z."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, pl.Series)):
        return ";".join(text(item) for item in value)
    return str(value)


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of an expected CSV; no file is no rows."""
    if not path.exists():
        return [], []
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def compare(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """The rows, in their order, have the values of the expected CSV in the columns that it names."""
    header, expected = read_table(path)
    found = [[text(row[column]) for column in header] for row in rows]
    assert found == expected, path


def source(path: Path, full_name: str | None = None, **settings: object) -> Source:
    """A Source of one file, identified, collected on a fixed day unless the settings say another."""
    chosen = Settings(**settings)  # type: ignore[arg-type]
    content_id, n_bytes, _ = digest(path, MAX_EXPANDED)
    return Source(
        path=path,
        full_name=full_name or path.name,
        settings=chosen,
        collected_at=chosen.collected_at or COLLECTED_AT,
        content_id=content_id,
        source_id=identify(chosen.cluster, content_id),
        n_bytes=n_bytes,
    )


def case_source(case: Path) -> Source:
    """The Source of a case: its input.* and the settings in settings.toml (full_name is the path below the inbox)."""
    path = next(case.glob("input*"))
    written = case / "settings.toml"
    chosen = tomllib.loads(written.read_text()) if written.exists() else {}
    if "columns" in chosen:
        chosen["columns"] = tuple(chosen["columns"])
    return source(path, chosen.pop("full_name", None), **chosen)


def rows_of(batches: Iterable[Batch], table: str) -> Iterator[dict[str, object]]:
    """The rows of one table over all batches, in order."""
    for batch in batches:
        frame = batch.rejects if table == "rejects" else batch.frames.get(table)
        if frame is not None:
            yield from frame.iter_rows(named=True)
