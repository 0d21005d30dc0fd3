"""The lake: Parquet under Delta transactions, one snapshot named by the last commit of `sources`.

A batch of files is one commit per table, and `sources` comes last: its commit names the version of every other table.
That is the snapshot, and the only thing readers use. At start, under the lock, a table that is ahead of the snapshot
(a run was killed between two commits) is restored, and the batch runs anew. Local folders only.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.transaction import AddAction, RemoveAction

from bathtub.schema import Table, table, tables
from bathtub.spool import LEVEL, WHOLE_ROWS, Part, Spool, with_day, write_parts

SNAPSHOT = "bathtub_snapshot"
MAX_FILES = 512
"""Parquet files of one table above which it is compacted."""
_ID = re.compile(r"[0-9a-f]{64}")
_WRITER = WriterProperties(compression="ZSTD", compression_level=LEVEL)

Snapshot = Mapping[str, int]


class LakeLocked(Exception):
    """Another run holds the lock of this lake. Exit code 5."""


class LakeError(Exception):
    """The lake cannot be read: says what is missing and what to do. Exit code 1."""


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Holds the lake's one lock. A process that dies loses it. Raises LakeLocked."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LakeLocked(f"another run holds {root / 'lock'}: wait for it") from error
        yield


@dataclass(frozen=True)
class Change:
    """One commit: spools of files read anew, and the live source rows that they replace or that go."""

    spools: Sequence[Spool]
    sources: pl.DataFrame
    gone: pl.DataFrame


@dataclass(frozen=True)
class Lake:
    """The Delta tables of one folder."""

    root: Path
    retention_days: int = 365
    _known: dict[str, DeltaTable] = field(default_factory=dict, compare=False)

    def uri(self, name: str) -> str:
        """Where a table lies."""
        return str(self.root / "tables" / name)

    def create(self) -> None:
        """Makes each declared table that is not there yet, and restores those that are ahead. Needs the lock."""
        configuration = {
            "delta.logRetentionDuration": "interval 3650 days",  # older snapshots must stay readable
            "delta.deletedFileRetentionDuration": f"interval {self.retention_days} days",
        }
        # `sources` comes last: where it stands, all others do, so that a reader finds either all or no lake.
        for declared in sorted(tables().values(), key=lambda each: each.name == "sources"):
            DeltaTable.create(
                self.uri(declared.name),
                schema=declared.arrow,
                partition_by=["event_day"],
                mode="ignore",
                configuration=configuration,
            )
        shutil.rmtree(self.root / "spool", ignore_errors=True)
        self._restore()

    def _restore(self) -> None:
        named = self.snapshot()
        for name in tables():
            delta = DeltaTable(self.uri(name))
            if delta.version() > named[name] and not _is_restored(delta, named[name]):
                delta.restore(named[name])

    def snapshot(self) -> dict[str, int]:
        """The version of every table that the last commit of `sources` names. Raises LakeError without a lake."""
        if not DeltaTable.is_deltatable(self.uri("sources")):
            raise LakeError(f"{self.root} is no lake: run `bathtub nightly` first")
        sources = DeltaTable(self.uri("sources"))
        for commit in sources.history():
            if SNAPSHOT in commit:
                found: dict[str, int] = json.loads(commit[SNAPSHOT])
                return dict.fromkeys(tables(), 0) | found | {"sources": int(commit["version"])}
        return dict.fromkeys(tables(), 0)

    def files(self, snapshot: Snapshot) -> dict[str, list[str]]:
        """The Parquet files of each table at a snapshot. Raises LakeError where they were vacuumed."""
        return {name: self._files(name, version) for name, version in snapshot.items() if name in tables()}

    def _files(self, name: str, version: int) -> list[str]:
        files = sorted(DeltaTable(self.uri(name), version=version).file_uris())
        if any(not Path(file).exists() for file in files):
            raise LakeError(f"files of {name} version {version} are gone: the snapshot is older than retention_days")
        return files

    def sources(self) -> pl.DataFrame:
        """The live sources of the current snapshot, by source_id."""
        delta = DeltaTable(self.uri("sources"), version=self.snapshot()["sources"])
        frame = pl.DataFrame(delta.to_pyarrow_table())
        return frame.select(table("sources").polars.keys()).sort("source_id")

    def commit(self, change: Change, run_id: str) -> None:
        """Writes one batch: a commit per table that it touches, then `sources` with the snapshot. Needs the lock."""
        new_days = _days(change.sources)
        for name, declared in tables().items():
            if name != "sources":
                self._write(declared, change, new_days, run_id)
        rows = _arrow(table("sources"), change.sources)
        ids = sorted({*change.gone["source_id"], *change.sources["source_id"]})
        write_deltalake(
            self.uri("sources"),
            rows,
            mode="overwrite",
            predicate=f"source_id IN ({_quoted(ids)})",
            writer_properties=_WRITER,
            commit_properties=self._naming_the_snapshot(run_id),
        )
        for spool in change.spools:
            spool.drop()

    def _naming_the_snapshot(self, run_id: str) -> CommitProperties:
        """What makes a commit of `sources` a snapshot: the present version of every other table."""
        named = {name: DeltaTable(self.uri(name)).version() for name in tables() if name != "sources"}
        return CommitProperties(custom_metadata={"run_id": run_id, SNAPSHOT: json.dumps(named, sort_keys=True)})

    def maintain(self, run_id: str, max_files: int = MAX_FILES) -> bool:
        """Compacts tables of many files and removes what retention_days lets go. Needs the lock. True where it did.

        Rows stay as they are. It ends with a commit of `sources`, since a snapshot names versions.
        """
        crowded = [name for name in tables() if len(DeltaTable(self.uri(name)).file_uris()) > max_files]
        for name in crowded:
            DeltaTable(self.uri(name)).optimize.compact(writer_properties=_WRITER)
            hours = 24 * self.retention_days
            DeltaTable(self.uri(name)).vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
        if crowded:
            empty = table("sources").arrow.empty_table()
            write_deltalake(self.uri("sources"), empty, mode="append", commit_properties=self._naming_the_snapshot(run_id))
        return bool(crowded)

    def _write(self, declared: Table, change: Change, days: tuple[date, date] | None, run_id: str) -> None:
        """One table's commit; replaced sources' rows go in it. A table that nothing touches gets none."""
        properties = CommitProperties(custom_metadata={"run_id": run_id})
        replaced = sorted(change.gone.filter(pl.col("status") == "ingested")["source_id"])
        if not replaced:
            self._append(declared, change.spools, properties)
            return
        batches = (_arrow(declared, frame) for spool in change.spools for frame in spool.frames(declared.name))
        reader = pa.RecordBatchReader.from_batches(declared.arrow, (batch for part in batches for batch in part.to_batches()))
        # Every written row must satisfy the predicate, so it covers old and new ids and days.
        ids = sorted({*replaced, *change.sources["source_id"]})
        span = None if declared.day_of is None else _days(change.gone, days)
        where = f"source_id IN ({_quoted(ids)})"
        if span is not None:
            where = f"((event_day >= '{span[0]}' AND event_day <= '{span[1]}') OR event_day IS NULL) AND {where}"
        write_deltalake(
            self.uri(declared.name),
            reader,
            mode="overwrite",
            predicate=where,
            writer_properties=_WRITER,
            commit_properties=properties,
        )

    def _append(self, declared: Table, spools: Sequence[Spool], properties: CommitProperties) -> None:
        """Puts the files of a batch in place, small ones joined, and names them in one commit."""
        root = Path(self.uri(declared.name))
        added: list[AddAction | RemoveAction] = [_moved(part, root) for spool in spools for part in spool.parts(declared.name)]
        for frames in _gathered(spool.rest(declared.name) for spool in spools):
            added += [_action(part) for part in write_parts(declared, frames, root)]
        if added:
            DeltaTable(root).create_write_transaction(
                added, "append", declared.arrow, partition_by=["event_day"], commit_properties=properties
            )


def _gathered(rests: Iterable[pl.DataFrame | None]) -> Iterator[list[pl.DataFrame]]:
    """Frames in groups that are worth a file."""
    frames: list[pl.DataFrame] = []
    for rest in rests:
        if rest is not None:
            frames.append(rest)
            if sum(frame.height for frame in frames) >= WHOLE_ROWS:
                yield frames
                frames = []
    if frames:
        yield frames


def _moved(part: Part, root: Path) -> AddAction:
    """A finished file in its place in the table."""
    target = root / part.folder / part.path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    return _action(replace(part, path=part.path.replace(target)))


def _action(part: Part) -> AddAction:
    found = part.path.stat()
    day = {"event_day": None if part.day is None else part.day.isoformat()}
    stats = json.dumps({"numRecords": part.n_rows})
    path = f"{part.folder}/{part.path.name}"
    return AddAction(path, found.st_size, day, found.st_mtime_ns // 1_000_000, data_change=True, stats=stats)


def _is_restored(delta: DeltaTable, version: int) -> bool:
    """Whether the table's last commit restored just this version."""
    last = delta.history(1)[0]
    return last["operation"] == "RESTORE" and str(last["operationParameters"].get("version")) == str(version)


def _arrow(declared: Table, frame: pl.DataFrame) -> pa.Table:
    """The frame as Arrow in the declared schema, with the day that it is partitioned by."""
    return with_day(declared, frame).select(declared.names).to_arrow().cast(declared.arrow)


def _days(sources: pl.DataFrame, more: tuple[date, date] | None = None) -> tuple[date, date] | None:
    """The UTC days that the rows of some sources span, None where nothing has a time."""
    days = [stamp.date() for name in ("first_at", "last_at") for stamp in sources[name].drop_nulls()]
    days += [] if more is None else list(more)
    return (min(days), max(days)) if days else None


def _quoted(ids: Sequence[str]) -> str:
    """Source ids for a Delta predicate, which takes no parameters: nothing but hex gets through."""
    for found in ids:
        if _ID.fullmatch(found) is None:
            raise ValueError(f"{found!r} is no source id")
    return ", ".join(f"'{found}'" for found in ids)


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces a file in one step: a reader or a kill sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
