r"""gpud's own data base (SQLite): a table per component, `components_<component>_events_v0_5_0`.

    timestamp   name       type   message  extra_info
    1748797144  error_xid  Fatal           {"data": "{\"xid\":79}", "device_uuid": "PCI:0000:04:00"}

`timestamp` is in whole seconds and is the kernel's, counted from boot: `derived`. `device_uuid` in the extra
information holds a PCI address; `data` is JSON text or only the number. Two equal events of one second were stored
once. Xid and SXid events are faults, all other events are states `agent_event`. Other tables are not read; events that
stand only in the write-ahead log beside the file are not seen.

The file is copied (bounded) and opened read-only and immutable, without its triggers, views and virtual tables.

A record is a row of such a table, in order of tables and of rows.
Rejects: xid_no_code, bad_timestamp.
Quarantine: bad_database, file_too_large.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import Event, decoded, keep_event, mapping, string
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS, Moment
from bathtub.ingest._times import Stamp, checked
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("gpu_faults"), table("observations"))
LIMIT = 1 << 30
MAX_CELL = 1 << 20
MAX_TABLES = 1000
MAX_STEPS = 200_000
"""Calls of the progress handler, each after 1,000 instructions, before a query is given up."""

FIRST_S, LAST_S = 946_684_800, 4_102_444_800
MAGIC = b"SQLite format 3\x00"
_EVENTS = re.compile(r"components_([a-z0-9_]{1,100})_events_v\d+_\d+_\d+")
_LIST = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%' order by name"
_ROWS = 'select timestamp, name, type, message, extra_info from "{}" order by rowid'


@dataclass
class Budget:
    """Instructions left: a progress handler that ends what goes on for ever."""

    left: int = MAX_STEPS

    def __call__(self) -> bool:
        """Whether the query has to end."""
        self.left -= 1
        return self.left < 0


def _claims(head: bytes, _name: str) -> bool:
    return head.startswith(MAGIC) and re.search(rb"components_[a-z0-9_]+_events_v\d", head) is not None


def _copy(source: Source, folder: str) -> Path:
    """The bytes of the data base in a file of our own."""
    if source.n_bytes > LIMIT:
        raise Quarantine("file_too_large", f"{source.n_bytes} bytes, and this format is read up to {LIMIT}")
    copy = Path(folder, "copy.db")
    with copy.open("wb") as file:
        for chunk in source.chunks():
            file.write(chunk)
    return copy


def _open(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{copy.as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_progress_handler(Budget(), 1000)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma cell_size_check = on")
    return connection


def _rows(copy: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """(component, row) of every event. Raises Quarantine(`bad_database`)."""
    try:
        with closing(_open(copy)) as connection:
            for (name,) in connection.execute(_LIST).fetchmany(MAX_TABLES):
                found = _EVENTS.fullmatch(str(name))
                if found is not None:
                    component = found[1].replace("_", "-")
                    yield from ((component, row) for row in connection.execute(_ROWS.format(found[0])))
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise Quarantine("bad_database", f"the data base cannot be read ({error}): copy it again with gpud stopped") from error


def _moment(value: object, source: Source) -> Moment | None:
    """The time of a row; None where it is none."""
    if not isinstance(value, int) or not FIRST_S < value < LAST_S:
        return None
    return Moment(checked(Stamp(datetime.fromtimestamp(value, UTC), "derived"), source), "poll", str(value))


def _keep(collector: Collector, line: int, component: str, row: tuple[object, ...]) -> None:
    name, kind, message, extra = (string(value) for value in row[1:])
    raw = " ".join(str(value) for value in (row[0], component, name, kind, message, extra) if value is not None)
    moment = _moment(row[0], collector.source)
    if moment is None:
        collector.reject(line, "bad_timestamp", raw)
        return
    information = mapping(decoded(extra or "{}"))
    node = collector.source.settings.node
    keep_event(collector, Event(line, moment, node, component, name, kind, message or "", information, raw, "gpud"))


def _parse(source: Source) -> Iterator[Batch]:
    with TemporaryDirectory(prefix="bathtub-sqlite-") as folder:
        collector, read, done = Collector(FORMAT.name, source), 0, 0
        for component, row in _rows(_copy(source, folder)):
            read, done = read + 1, done + 1
            _keep(collector, done, component, row)
            if read >= BATCH_ROWS:
                yield collector.batch(read)
                collector, read = Collector(FORMAT.name, source), 0
        yield collector.batch(read)


FORMAT = Format("gpud_sqlite", "1", "a row of a table of events", TABLES, _claims, _parse)
