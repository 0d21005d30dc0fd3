"""`parse` and `judge`: files straight to rows, without a lake."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from bathtub import knowledge
from bathtub.config import Config
from bathtub.ingest import Quarantine
from bathtub.intake import Stat, Task, collected_at, discover, open_source, take
from bathtub.nightly import parameters
from bathtub.schema import tables
from bathtub.source import Source, raw_digest
from bathtub.spool import Spool

COUNTS = ("read", "kept", "rejected", "out_of_scope")


@dataclass(frozen=True)
class Line:
    """One line of output: a table and a row of it."""

    table: str
    row: dict[str, object]

    def __str__(self) -> str:
        if self.table == "sources":
            told = [f"{name} {self.row[name]}" for name in COUNTS]
            return f"{self.row['full_name']}: {self.row['format'] or self.row['reason']}: {', '.join(told)}"
        names = ("incident_id", "started_at", "component", "cause", "confidence", "node", "device", "rule_id")
        return "  ".join(str(self.row.get(name) or "-") for name in names)


def named_files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Each file with its name below the inbox: below a folder that was given, else as it was given.

    Raises FileNotFoundError.
    """
    for path in paths:
        if path.is_dir():
            yield from discover(path)
        elif path.exists():
            is_plain = not path.is_absolute() and ".." not in path.parts
            yield path, path.as_posix() if is_plain else path.name
        else:
            message = f"{path}: no such file"
            raise FileNotFoundError(message)


def parse_files(paths: Sequence[Path], config: Config) -> Iterator[Line]:
    """Rows as they are read, rejects, and behind each file its `sources` line with the counts."""
    for path, full_name in list(named_files(paths)):
        yield from _parse(path, full_name, config)


def _parse(path: Path, full_name: str, config: Config) -> Iterator[Line]:
    counts = dict.fromkeys(COUNTS, 0)
    format_name = None
    lines: list[Line] = []
    settings = config.settings(full_name)
    try:
        if not path.is_file():
            raise Quarantine("not_a_file", "only regular files are read")
        source, claimed = open_source(path, full_name, settings)
        format_name = claimed.name
        for batch in claimed.parse(source):
            for name in COUNTS:
                counts[name] += getattr(batch, name)
            frames = {**batch.frames, "rejects": batch.rejects}
            lines += [Line(name, row) for name, frame in frames.items() for row in frame.iter_rows(named=True)]
    except Quarantine as refused:
        counts = dict.fromkeys(COUNTS, 0)
        told: dict[str, object] = {"status": "quarantined", "reason": refused.reason, "detail": refused.detail}
    else:
        yield from lines
        told = {"status": "ingested", "reason": None, "detail": None, "source_id": source.source_id}
    yield Line("sources", {"full_name": full_name, "format": format_name, **counts, **told})


def judge_files(paths: Sequence[Path], config: Config) -> Iterator[Line]:
    """Bursts, incidents and verdicts of the files taken together, and the `sources` line of what could not be read."""
    from bathtub.warehouse import build, connect

    frames, sources = read_all(paths, config)
    known = knowledge.tables(config.knowledge, Path(config.folder))
    inputs = {**frames, **known, "parameters": parameters(config, knowledge_version=knowledge.version(known))}
    with connect(memory=config.limits.memory, threads=config.limits.threads) as con:
        build(con, inputs, ["int_burst_families", "incidents", "verdicts"])
        for table, relation in (("bursts", "int_burst_families"), ("incidents", "incidents"), ("verdicts", "verdicts")):
            frame = con.table(relation).pl()
            order = [name for name in ("started_at", "first_at", "incident_id", "burst_id") if name in frame.columns]
            yield from (Line(table, row) for row in frame.sort(order).iter_rows(named=True))
    yield from (Line("sources", row) for row in sources if row["status"] == "quarantined")


def read_all(paths: Sequence[Path], config: Config) -> tuple[dict[str, pl.DataFrame], list[dict[str, object]]]:
    """The lake tables of some files as frames (event_day is null), and a line about each file, with its counts."""
    parts: dict[str, list[pl.DataFrame]] = {}
    rows, told, known = [], [], set[str]()
    with TemporaryDirectory(prefix="bathtub-spool-") as folder:
        for index, (path, full_name) in enumerate(named_files(paths)):
            outcome = take(_task(path, full_name, config), Path(folder, str(index)))
            row = dict(outcome.row or {})
            told.append({**row, **{name: row[f"n_{name}"] for name in COUNTS}})
            if row["source_id"] in known:
                continue
            known.add(str(row["source_id"]))
            rows.append(row)
            spool = Spool(Path(folder, str(index)))
            for name in tables():
                parts.setdefault(name, []).extend(spool.frames(name))
            spool.drop()
    frames = {name: pl.concat(some).with_columns(event_day=pl.lit(None, pl.Date)) for name, some in parts.items() if some}
    declared = tables()["sources"].polars
    frames["sources"] = pl.DataFrame(rows, schema=declared, orient="row").with_columns(event_day=pl.lit(None, pl.Date))
    return frames, told


def _task(path: Path, full_name: str, config: Config) -> Task:
    """A task for a file that no lake knows of."""
    settings = config.settings(full_name)
    nothing: Stat = (0, 0, 0, 0)
    try:
        if not path.is_file():
            raise Quarantine("not_a_file", "only regular files are read")
        source, claimed = open_source(path, full_name, settings)
    except Quarantine as refused:
        is_file = path.is_file()
        content_id = raw_digest(path) if is_file else ""
        bare = Source(path, full_name, settings, collected_at(path, full_name, settings), content_id, content_id, 0)
        return Task(bare, None, nothing, quarantine=(refused.reason, refused.detail))
    return Task(source, claimed.name, nothing)
