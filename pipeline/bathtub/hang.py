"""One set of flight-recorder dumps judged at once: what `bathtub hang` prints.

The same ingest, SQL and graph as the nightly run, over files that need no lake. The dumps are read by two child processes
while polars and DuckDB load, which takes about as long: nothing that needs these is imported here.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from bathtub.ingest._recorder_files import MAX_BYTES, claims
from bathtub.ingest._recorder_reader import READER
from bathtub.ingest._recorder_rows import Dump
from bathtub.source import HEAD, Quarantine, Settings, Source

IGNORED = frozenset({".pipe", ".tmp", ".bak", ".log"})
"""Suffixes of what torch and people leave beside the dumps."""

_SETTINGS = Settings(max_expanded_bytes=MAX_BYTES)
_READERS = 2
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


@dataclass(frozen=True)
class Taken:
    """One file: its dump, or why there is none; neither where it does not look like one."""

    source: Source
    is_dump: bool = False
    dump: Dump | None = None
    refused: Quarantine | None = None


def hang(paths: Iterable[Path], world: int | None = None) -> dict[str, object]:
    """The verdict on the dumps in these folders and files, all taken as one set; on their lines where no dump is among them.

    Keys: finding, class, culprits, suspects, missing (ranks), confidence, group, seq, evidence (each with file and
    entry, from 1), summary; and what explains it: stalled (the operation it is about), waits (who for whom), groups (their
    watermarks), decides (evidence that would settle the rest). `world`: number of ranks of the job, where it is known.
    Raises OSError.
    """
    paths = list(paths)
    with ThreadPoolExecutor(_READERS) as pool:
        taken = pool.map(_taken, count(), dump_files(paths))

        from bathtub.hang_dumps import explanation, hang_from_dumps

        verdict, names, why = hang_from_dumps(_to_the_end(taken), world)
    if verdict is None:
        from bathtub.hang_logs import hang_from_logs

        verdict, names = hang_from_logs(paths)
        why = explanation(verdict or _NO_DUMP, "log_findings" if verdict else "hang_findings")
    return _told(verdict or _NO_DUMP, names) | why


def dump_files(paths: Iterable[Path]) -> list[Path]:
    """The files that may be dumps: those named, and of each folder named those directly in it; sorted by name."""
    found: set[Path] = set()
    for path in paths:
        found |= {each for each in path.iterdir() if each.is_file() and _may_be_dump(each)} if path.is_dir() else {path}
    return sorted(found, key=lambda path: (path.name, path))


def _may_be_dump(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() not in IGNORED


def _to_the_end(taken: Iterator[Taken]) -> Iterator[Taken]:
    """The same; the children end with the last file, before their memory is needed elsewhere."""
    yield from taken
    READER.close()


def _taken(number: int, path: Path) -> Taken:
    """One file, read under a short id, since millions of entries carry it."""
    modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    source = Source(path, path.name, _SETTINGS, modified, source_id=str(number))
    try:
        content = _content(source)
    except Quarantine as refused:
        return Taken(source, refused=refused)
    if not claims(content[:HEAD], path.name):
        return Taken(source)
    try:
        return Taken(source, is_dump=True, dump=READER.read(content))
    except Quarantine as refused:
        return Taken(source, is_dump=True, refused=refused)


def _content(source: Source) -> bytes:
    n_bytes = source.path.stat().st_size
    if n_bytes > MAX_BYTES:
        raise Quarantine("file_too_large", f"{n_bytes} bytes, and dumps are read up to {MAX_BYTES}")
    content = source.read(MAX_BYTES)
    if not content:
        raise Quarantine("empty_file", "the file has no content: the rank died or was stopped while writing")
    return content


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
