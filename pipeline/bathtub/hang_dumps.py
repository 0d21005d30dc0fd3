"""The verdict on one set of dumps that are read: their tables, the SQL that judges them, and what explains it."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import polars as pl

from bathtub import knowledge
from bathtub.config import Config
from bathtub.graph import explained
from bathtub.hang import Taken
from bathtub.ingest.flight_recorder import FORMAT, batch_of
from bathtub.schema import table
from bathtub.warehouse import build, connect

_UNREAD = ("time_source", "time_quality", "record_id", "op_id", "started_ns", "duration_ms", "thread_name")
"""Columns that no step of the judge reads."""
_KNOWLEDGE = ("compared_collectives", "hang_findings")

Row = Mapping[str, object]


def hang_from_dumps(taken: Iterable[Taken], world: int | None) -> tuple[Row | None, dict[str, str], dict[str, object]]:
    """The row of `int_hang_verdicts`, the name of each source, and the explanation; None where no file is a dump."""
    with connect() as con:  # it takes as long as a few dumps, which are being read meanwhile
        known = {name: knowledge.tables()[name] for name in _KNOWLEDGE}
        sources, inputs = _tables(taken)
        if not any(source["format"] or source["reason"] for source in sources):
            return None, {}, {}
        inputs["int_dump_worlds"] = _worlds(sources, world if inputs else None)
        inputs["sources"] = _dated(pl.DataFrame(sources, schema=table("sources").polars))
        inputs["parameters"] = pl.DataFrame([msgspec.structs.asdict(Config().windows)])
        build(con, inputs | known, ["int_hang_verdicts"])
        rows = con.table("int_hang_verdicts").pl().to_dicts()
        if not rows:
            return None, {}, {}
        waits, groups = (con.table(name).pl().to_dicts() for name in ("int_waits", "int_rank_groups"))
    names = {str(source["source_id"]): str(source["full_name"]) for source in sources}
    return rows[0], names, explanation(rows[0], "hang_findings", waits, groups)


def explanation(verdict: Row, findings: str, waits: Sequence[Row] = (), groups: Sequence[Row] = ()) -> dict[str, object]:
    """What explains the verdict; `findings`: the knowledge table that says what would decide the rest."""
    return explained(verdict, waits, groups, knowledge.tables()[findings])


def _tables(taken: Iterable[Taken]) -> tuple[list[dict[str, object]], dict[str, pl.DataFrame]]:
    """The rows of `sources`, and the tables of what could be read, none where nothing could."""
    sources: list[dict[str, object]] = []
    frames: dict[str, list[pl.DataFrame]] = {}
    for one in taken:
        sources.append(_source(one))
        if one.dump is not None:
            batch = batch_of(one.dump, one.source)
            for column in _UNREAD:
                batch.frames["collectives"].drop_in_place(column)
            for name, frame in batch.frames.items():
                frames.setdefault(name, []).append(frame)
    return sources, {name: _dated(pl.concat(parts)) for name, parts in frames.items()}


def _source(taken: Taken) -> dict[str, object]:
    source = taken.source
    return {
        "source_id": source.source_id,
        "content_id": "",
        "cluster": source.cluster,
        "name": source.name,
        "full_name": source.full_name,
        "collected_at": source.collected_at,
        "settings": "{}",
        "format": FORMAT.name if taken.is_dump else None,
        "status": "quarantined" if taken.dump is None else "ingested",
        "reason": taken.refused.reason if taken.refused else None,
        "detail": taken.refused.detail if taken.refused else None,
    }


def _worlds(sources: Sequence[Row], world: int | None) -> pl.DataFrame:
    known = [{"cluster": source["cluster"], "dump_set": ".", "world_size": world} for source in sources[:1] if world is not None]
    return pl.DataFrame(known, schema={"cluster": pl.String, "dump_set": pl.String, "world_size": pl.Int64})


def _dated(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(event_day=pl.lit(None, dtype=pl.Date()))
