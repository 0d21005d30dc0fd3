"""What to take in: finds the inbox's files, tells which are known, and reads one file into a spool.

`sources` alone decides what is known. The `seen` cache only spares a hash: it maps a file's size and times to the
content that it had, and may be lost at any moment.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl

from bathtub.config import Config
from bathtub.ingest import Format, Quarantine, claim, formats
from bathtub.lake import write_atomically
from bathtub.schema import table
from bathtub.source import Settings, Source, digest, head, identify, logical_name, named_date, raw_digest
from bathtub.spool import Spool

Stat = tuple[int, int, int, int]


@dataclass(frozen=True)
class Task:
    """One file to be read: what it is, who reads it, and the sources that go with it.

    `gone` are live sources that its rows replace; `stale` are rows of `sources` alone, which go even where the file
    turns out to be unreadable.
    """

    source: Source
    format: str | None
    stat: Stat
    gone: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    quarantine: tuple[str, str] | None = None
    status: str = "new"


@dataclass(frozen=True)
class Outcome:
    """What became of a file: new, known, copy, contained, grown, replaced or quarantined; its `sources` row if any."""

    full_name: str
    status: str
    row: Mapping[str, object] | None = None
    gone: tuple[str, ...] = ()
    reason: str | None = None


class Seen(msgspec.Struct):
    """What a file was when it was last looked at."""

    stat: Stat
    source_id: str
    content_id: str
    n_bytes: int


def discover(inbox: Path) -> list[tuple[Path, str]]:
    """Every file below the inbox with its name there, in order of names. Links to folders are not followed."""
    found = []
    for folder, folders, files in os.walk(inbox):
        folders.sort()
        linked = [name for name in folders if Path(folder, name).is_symlink()]  # not followed, and told of
        for file in (*files, *linked):
            path = Path(folder, file)
            name = path.relative_to(inbox).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            found.append((path, name))
    return sorted(found, key=lambda each: each[1])


def collected_at(path: Path, full_name: str, settings: Settings) -> datetime:
    """When a file was collected: as configured, else the date in its name, else its own time."""
    stated = settings.collected_at or named_date(full_name)
    return stated or datetime.fromtimestamp(int(path.stat().st_mtime), UTC)


def open_source(path: Path, full_name: str, settings: Settings) -> tuple[Source, Format]:
    """The identified Source of one file, and its format. Raises Quarantine."""
    bare = Source(path, full_name, settings, collected_at(path, full_name, settings))
    content_id, n_bytes, prefixes = digest(path, settings.max_expanded_bytes)
    claimed = claim(head(path, settings.max_expanded_bytes), full_name, settings.format)
    name = bare.name if claimed.name_carries_data else None
    source_id = identify(settings.cluster, content_id, name)
    return replace(bare, content_id=content_id, source_id=source_id, n_bytes=n_bytes, prefixes=prefixes), claimed


class Intake:
    """The decisions of one run about the files of the inbox."""

    def __init__(self, config: Config, live: pl.DataFrame, seen: Mapping[str, Seen]) -> None:
        self._config = config
        self._live = {row["source_id"]: row for row in live.iter_rows(named=True)}
        self._seen = seen
        self._by_name: dict[tuple[str, str], list[dict[str, object]]] = {}
        self._by_path: dict[str, list[dict[str, object]]] = {}
        for row in self._live.values():
            self._by_name.setdefault((row["cluster"], row["name"]), []).append(row)
            self._by_path.setdefault(row["full_name"], []).append(row)
        self._collected = {row["content_id"]: row["collected_at"] for row in self._live.values()}

    def decide(self, files: Iterable[tuple[Path, str]]) -> tuple[list[Task], list[Outcome]]:
        """The files to be read, smallest first, and what became of the others."""
        found = [self._look(path, full_name) for path, full_name in files]
        tasks = [each for each in found if isinstance(each, Task)]
        outcomes = [each for each in found if isinstance(each, Outcome)]
        return self._among_themselves(tasks, outcomes)

    def _look(self, path: Path, full_name: str) -> Task | Outcome:
        settings = self._config.settings(full_name)
        if not path.is_file():
            return Outcome(full_name, "quarantined", reason="not_a_file")
        stat = _stat(path)
        before = self._seen.get(full_name)
        if before is not None and before.stat == stat and self._is_known(self._live.get(before.source_id), settings):
            return Outcome(full_name, "known")
        try:
            return self._identified(path, full_name, settings, stat)
        except Quarantine as refused:
            return self._refused(path, full_name, settings, stat, refused)
        except OSError:
            return Outcome(full_name, "quarantined", reason="cannot_be_opened")

    def _identified(self, path: Path, full_name: str, settings: Settings, stat: Stat) -> Task | Outcome:
        siblings = self._by_name.get((settings.cluster, logical_name(full_name)), [])
        lengths = [int(str(row["n_bytes"])) for row in siblings]
        content_id, n_bytes, prefixes = digest(path, settings.max_expanded_bytes, lengths)
        claimed = claim(head(path, settings.max_expanded_bytes), full_name, settings.format)
        when = self._collected.get(content_id) or collected_at(path, full_name, settings)
        source_id = identify(settings.cluster, content_id, logical_name(full_name) if claimed.name_carries_data else None)
        source = Source(path, full_name, settings, when, content_id, source_id, n_bytes, prefixes)
        known = self._live.get(source_id)
        if self._is_known(known, settings):
            return Outcome(full_name, "known" if known and known["full_name"] == full_name else "copy")
        grown = [str(row["source_id"]) for row in siblings if _grew(row, source)]
        same_path = [row for row in self._by_path.get(full_name, []) if row["source_id"] != source_id]
        replaced = [row["source_id"] for row in same_path if claimed.on_change == "replaces" and row["status"] == "ingested"]
        stale = [row["source_id"] for row in same_path if row["status"] == "quarantined"]
        again = [source_id] if known is not None else []
        gone = sorted({*grown, *map(str, replaced), *again})
        status = "grown" if grown else "replaced" if replaced else "new"
        return Task(source, claimed.name, stat, tuple(gone), tuple(sorted(map(str, stale))), status=status)

    def _refused(self, path: Path, full_name: str, settings: Settings, stat: Stat, refused: Quarantine) -> Task | Outcome:
        content_id = raw_digest(path)
        when = self._collected.get(content_id) or collected_at(path, full_name, settings)
        source_id = identify(settings.cluster, content_id, full_name)
        known = self._live.get(source_id)
        if known is not None and known["reason"] == refused.reason and known["settings"] == written(settings):
            return Outcome(full_name, "quarantined", known)
        source = Source(path, full_name, settings, when, content_id, source_id, path.stat().st_size)
        stale = {str(row["source_id"]) for row in self._by_path.get(full_name, []) if row["status"] == "quarantined"}
        again = {source_id} if known is not None else set()
        return Task(source, None, stat, stale=tuple(sorted(stale | again)), quarantine=(refused.reason, refused.detail))

    def _is_known(self, row: Mapping[str, object] | None, settings: Settings) -> bool:
        """Whether this source was read by today's version of its format under the same settings."""
        if row is None or row["status"] != "ingested" or row["settings"] != written(settings):
            return False
        known = formats().get(str(row["format"]))
        return known is not None and known.version == row["format_version"]

    def _among_themselves(self, tasks: list[Task], outcomes: list[Outcome]) -> tuple[list[Task], list[Outcome]]:
        """Copies and prefixes among the new files of one run: what would have been replaced is not read at all."""
        chosen: dict[str, Task] = {}
        for task in sorted(tasks, key=lambda each: (each.source.n_bytes, each.source.full_name)):
            if task.source.source_id in chosen:
                outcomes.append(Outcome(task.source.full_name, "copy"))
                continue
            for other in self._contained(task, chosen.values()):
                outcomes.append(Outcome(other.source.full_name, "contained"))
                del chosen[other.source.source_id]
                task = replace(task, gone=_both(task.gone, other.gone), stale=_both(task.stale, other.stale))  # noqa: PLW2901
            chosen[task.source.source_id] = task
        return list(chosen.values()), sorted(outcomes, key=lambda each: each.full_name)

    @staticmethod
    def _contained(task: Task, others: Iterable[Task]) -> list[Task]:
        if task.quarantine is not None:
            return []
        same = [each for each in others if each.format == task.format and each.source.name == task.source.name]
        same = [
            each for each in same if each.source.cluster == task.source.cluster and 0 < each.source.n_bytes < task.source.n_bytes
        ]
        limit = task.source.settings.max_expanded_bytes
        start = head(task.source.path, limit) if same else b""
        alike = [each for each in same if start.startswith(head(each.source.path, limit)[: len(start)])]
        if not alike:
            return []
        _, _, prefixes = digest(task.source.path, limit, [each.source.n_bytes for each in alike])
        return [each for each in alike if prefixes.get(each.source.n_bytes) == each.source.content_id]


def _both(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*some, *others}))


def _grew(row: Mapping[str, object], source: Source) -> bool:
    """Whether a live source's content is a proper prefix of this one's."""
    length = int(str(row["n_bytes"]))
    return 0 < length < source.n_bytes and source.prefixes.get(length) == row["content_id"]


def _stat(path: Path) -> Stat:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def written(settings: Settings) -> str:
    """The settings that change what is read, as JSON text."""
    names = ("zone", "node", "job_id", "collected_at", "format", "columns", "delimiter", "epoch", "booted_at")
    kept = {name: getattr(settings, name) for name in names}
    return json.dumps({name: value for name, value in kept.items() if value}, default=str, sort_keys=True)


def take(task: Task, folder: Path) -> Outcome:
    """Reads one file into a spool folder: the unit of work of a worker. Gives its `sources` row."""
    row = dict.fromkeys(table("sources").polars) | _identity(task)
    spool = Spool(folder)
    if task.quarantine is None:
        try:
            row |= _read(task, spool)
        except Quarantine as refused:
            spool.drop()
            task = replace(task, quarantine=(refused.reason, refused.detail))
    if task.quarantine is None:
        return Outcome(task.source.full_name, task.status, row, _both(task.gone, task.stale))
    reason, detail = task.quarantine
    row |= {"status": "quarantined", "reason": reason, "detail": detail}
    # What it would have replaced stays; only its own earlier rows go.
    own = [each for each in task.gone if each == task.source.source_id]
    return Outcome(task.source.full_name, "quarantined", row, _both(task.stale, own), reason)


def _identity(task: Task) -> dict[str, object]:
    source = task.source
    return {
        "source_id": source.source_id,
        "content_id": source.content_id,
        "cluster": source.cluster,
        "name": source.name,
        "full_name": source.full_name,
        "format": task.format,
        "format_version": formats()[task.format].version if task.format else None,
        "settings": written(source.settings),
        "status": "ingested",
        "collected_at": source.collected_at,
        "n_bytes": source.n_bytes,
        **dict.fromkeys(("n_read", "n_kept", "n_rejected", "n_out_of_scope"), 0),
    }


def _read(task: Task, spool: Spool) -> dict[str, object]:
    """Spools the batches of one file and sums up its counts and the span of its days."""
    assert task.format is not None
    counts = dict.fromkeys(("n_read", "n_kept", "n_rejected", "n_out_of_scope"), 0)
    times: list[datetime] = []
    for batch in formats()[task.format].parse(task.source):
        for name in counts:
            counts[name] += getattr(batch, name.removeprefix("n_"))
        for name, frame in {**batch.frames, "rejects": batch.rejects}.items():
            spool.write(name, frame)
            times += _span(name, frame)
    spool.close()
    return {**counts, "first_at": min(times, default=None), "last_at": max(times, default=None)}


def _span(name: str, frame: pl.DataFrame) -> list[datetime]:
    """Earliest and latest time that may decide a partition of this frame."""
    columns = [column for column in ("seen_at", "first_at", "last_at", "submitted_at") if column in frame.columns]
    if name == "rejects" or not columns or frame.is_empty():
        return []
    ends = [found for column in columns for found in (frame[column].min(), frame[column].max())]
    return [found for found in ends if isinstance(found, datetime)]


def load_seen(path: Path) -> dict[str, Seen]:
    """The cache of an earlier run, empty where there is none or it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Seen])
    except (OSError, msgspec.MsgspecError):
        return {}


def save_seen(path: Path, tasks: Sequence[Task], before: Mapping[str, Seen]) -> None:
    """Writes the cache anew: what was known, and what was just taken in."""
    now = {t.source.full_name: Seen(t.stat, t.source.source_id, t.source.content_id, t.source.n_bytes) for t in tasks}
    write_atomically(path, msgspec.json.encode({**before, **now}))
