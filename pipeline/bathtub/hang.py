"""One set of flight-recorder dumps judged at once: what `bathtub hang` prints.

The same ingest, SQL and graph as the nightly run, over files that need no lake.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl

from bathtub import knowledge
from bathtub.config import Config
from bathtub.graph import explained
from bathtub.ingest._recorder_reader import READER
from bathtub.ingest.flight_recorder import FORMAT, MAX_BYTES
from bathtub.schema import table
from bathtub.source import Quarantine, Settings, Source, digest, head
from bathtub.warehouse import build, connect

IGNORED = frozenset({".pipe", ".tmp", ".bak", ".log"})
"""Suffixes of what torch and people leave beside the dumps."""

_SETTINGS = Settings(max_expanded_bytes=MAX_BYTES)
_UNREAD = ("time_source", "time_quality", "record_id", "op_id", "started_ns", "duration_ms", "thread_name")
"""Columns that no step of the judge reads."""
_READERS = 2
_KNOWLEDGE = ("compared_collectives", "hang_findings")
_NO_DUMP: Mapping[str, object] = {
    "finding": "no_data",
    "hang_class": "unknown",
    "culprits": [],
    "suspects": [],
    "missing": [],
    "confidence": "low",
    "pg_name": None,
    "seq": None,
    "evidence": [],
    "summary": "there is no dump among the files",
}


def hang(paths: Iterable[Path], world: int | None = None) -> dict[str, object]:
    """The verdict on the dumps in these folders and files, all taken as one set; on their lines where no dump is among them.

    Keys: finding, class, culprits, suspects, missing (ranks), confidence, group, seq, evidence (each with file and
    entry, from 1), summary; and what explains it: stalled (the operation it is about), waits (who for whom), groups (their
    watermarks), decides (evidence that would settle the rest). `world`: number of ranks of the job, where it is known.
    Raises OSError.
    """
    paths = list(paths)
    sources, inputs = _read(dump_files(paths))
    has_dump = bool(inputs)
    inputs["sources"] = _dated(pl.DataFrame(sources, schema=table("sources").polars))
    inputs["int_dump_worlds"] = pl.DataFrame(
        [{"cluster": _SETTINGS.cluster, "dump_set": ".", "world_size": world}] if world is not None and has_dump else [],
        schema={"cluster": pl.String, "dump_set": pl.String, "world_size": pl.Int64},
    )
    inputs["parameters"] = pl.DataFrame([msgspec.structs.asdict(Config().windows)])
    inputs |= {name: knowledge.tables()[name] for name in _KNOWLEDGE}
    with connect() as con:
        build(con, inputs, ["int_hang_verdicts"])
        rows = con.table("int_hang_verdicts").pl().to_dicts()
        waits, groups = (con.table(name).pl().to_dicts() for name in ("int_waits", "int_rank_groups"))
    names = {str(source["source_id"]): str(source["full_name"]) for source in sources}
    if not rows:
        from bathtub.hang_logs import hang_from_logs

        verdict, names = hang_from_logs(paths)
        if verdict is not None:
            return _told(verdict, names) | explained(verdict, (), (), knowledge.tables()["log_findings"])
    verdict = rows[0] if rows else _NO_DUMP
    return _told(verdict, names) | explained(verdict, waits, groups, inputs["hang_findings"])


def dump_files(paths: Iterable[Path]) -> list[Path]:
    """The files that may be dumps: those named, and of each folder named those directly in it; sorted by name."""
    found: set[Path] = set()
    for path in paths:
        found |= {each for each in path.iterdir() if each.is_file() and _may_be_dump(each)} if path.is_dir() else {path}
    return sorted(found, key=lambda path: (path.name, path))


def _may_be_dump(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() not in IGNORED


def _read(paths: Sequence[Path]) -> tuple[list[dict[str, object]], dict[str, pl.DataFrame]]:
    """The rows of `sources`, and the tables of what could be read, empty where nothing could.

    Two threads read: their children work beside one another, and these end before the memory is needed elsewhere.
    """
    sources: list[dict[str, object]] = []
    frames: dict[str, list[pl.DataFrame]] = {}
    with ThreadPoolExecutor(_READERS) as pool:
        for row, found in pool.map(_taken, range(len(paths)), paths):
            sources.append(row)
            for name, frame in found.items():
                frames.setdefault(name, []).append(frame)
    READER.close()
    return sources, {name: _dated(pl.concat(parts)) for name, parts in frames.items()}


def _taken(number: int, path: Path) -> tuple[dict[str, object], Mapping[str, pl.DataFrame]]:
    """The file's row of `sources` under a short id, since millions of entries carry it; and what it holds."""
    stat = path.stat()
    source = Source(path, path.name, _SETTINGS, datetime.fromtimestamp(int(stat.st_mtime), UTC), source_id=str(number))
    row: dict[str, object] = {"status": "quarantined", "format": None, "cluster": source.cluster, "settings": "{}"}
    row |= {"name": source.name, "full_name": source.full_name, "collected_at": source.collected_at}
    row |= {"source_id": source.source_id, "content_id": ""}
    try:
        if stat.st_size > MAX_BYTES:
            raise Quarantine("file_too_large", f"{stat.st_size} bytes, and dumps are read up to {MAX_BYTES}")
        first = head(path, MAX_BYTES)
        if not first:
            raise Quarantine("empty_file", "the file has no content: the rank died or was stopped while writing")
        if not FORMAT.claims(first, path.name):
            return row, {}
        row["format"] = FORMAT.name
        content_id, n_bytes, _ = digest(path, MAX_BYTES)
        (batch,) = FORMAT.parse(replace(source, content_id=content_id, n_bytes=n_bytes))
        for name in _UNREAD:
            batch.frames["collectives"].drop_in_place(name)
        return row | {"status": "ingested", "content_id": content_id}, batch.frames
    except Quarantine as refused:
        return row | {"reason": refused.reason, "detail": refused.detail}, {}


def _dated(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(event_day=pl.lit(None, dtype=pl.Date()))


def _told(row: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """A row of int_hang_verdicts in the words of the interface; evidence names files in place of their ids."""
    evidence = []
    for ref in row["evidence"]:  # type: ignore[attr-defined]
        source_id, _, line = str(ref).rpartition(":")
        evidence.append(f"{names.get(source_id, source_id)}:{line}")
    return {
        "finding": row["finding"],
        "class": row["hang_class"],
        "culprits": row["culprits"],
        "suspects": row["suspects"],
        "missing": row["missing"],
        "confidence": row["confidence"],
        "group": row["pg_name"],
        "seq": row["seq"],
        "evidence": evidence,
        "summary": row["summary"],
    }
