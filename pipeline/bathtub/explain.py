"""`explain` and `sql`: what a lake's newest snapshot says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from bathtub import knowledge
from bathtub.lake import Lake
from bathtub.warehouse import connect, provide, provide_empty

RAW_SHOWN = 400


class NotFound(Exception):
    """No incident, or several, of that id. Exit code 1."""


@dataclass(frozen=True)
class Explained:
    """One incident with its evidence in order of time."""

    incident: Mapping[str, object]
    evidence: list[dict[str, object]]

    def as_json(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {"incident": dict(self.incident), "evidence": self.evidence}

    def as_text(self) -> str:
        """A timeline for a tired reader: verdict first, then what happened when, each with file and line."""
        return "\n".join([*self._verdict(), "", "timeline (UTC)", *(line for row in self._told() for line in _entry(row))])

    def _told(self) -> list[dict[str, object]]:
        return [row for row in self.evidence if not row["is_repeat"]]

    def _verdict(self) -> list[str]:
        say = self.incident.get
        device = say("device_bdf") or "no device named"
        identity = ", ".join(str(value) for value in (say("device_serial"), say("device_uuid")) if value)
        lines = [
            f"{say('incident_id')}: {say('component')}, {say('cause')} ({say('verdict_status')}, confidence {say('confidence')})",
            f"  when       {_time(say('started_at'))} to {_time(say('detected_at'))}",
            f"  jobs       {_listed(say('job_ids')) or 'none was ended'}",
            f"  node       {say('device_node') or 'unknown'}  (all: {_listed(say('nodes'))})",
            f"  device     {device}{f' ({identity})' if identity else ''}",
            f"  severity   {say('severity')}, {_counted(say('is_failure'), planned=say('is_planned'))}",
            f"  rule       {say('rule_id')} (knowledge {say('knowledge_version')})",
            f"  action     {say('action') or 'none'}",
        ]
        others = _listed(say("alternatives"))
        return [*lines, f"  otherwise  {others}"] if others else lines


def _counted(is_failure: object, *, planned: object) -> str:
    if planned:
        return "planned: no failure"
    return {True: "counts as a failure", False: "no failure", None: "not known whether a failure"}[is_failure]  # type: ignore[index]


def _entry(row: Mapping[str, object]) -> list[str]:
    """One piece of evidence: when, what, where, and its raw line."""
    mark = ">" if row["is_decisive"] else " "
    n_lines = f" x{row['n_lines']}" if isinstance(row["n_lines"], int) and row["n_lines"] > 1 else ""
    where = " ".join(str(row[name]) for name in ("node", "device") if row[name])
    head = (
        f"{mark} {_time(row['seen_at'])}  {row['kind']} {row['code'] or ''}{n_lines} {where} ({row['role']}, {row['severity']})"
    )
    said = str(row["raw"] or row["text"] or "")[:RAW_SHOWN]
    return [head, f"      {row['source_name'] or row['source_id']}:{row['line']}  {said}"]


def _time(value: object) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else "unknown time"


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, pl.Series)) else ""


def newest_marts(root: Path) -> dict[str, Path]:
    """The files of the newest snapshot's marts by name. Raises LakeError, NotFound."""
    snapshot = Lake(root).snapshot()
    found = {path.stem: path for path in sorted((root / "marts" / str(snapshot["sources"])).glob("*.parquet"))}
    if not found:
        raise NotFound(f"{root} has no marts of its newest snapshot: run `bathtub nightly` to its end")
    return found


def explain(incident_id: str, root: Path) -> Explained:
    """The incident of this id, or whose id begins so. Raises LakeError, NotFound."""
    marts = newest_marts(root)
    incidents = pl.read_parquet(marts["incidents"])
    found = incidents.filter(pl.col("incident_id").str.starts_with(incident_id))
    if found.height != 1:
        said = "no incident" if found.is_empty() else f"{found.height} incidents"
        raise NotFound(f"{said} of id {incident_id!r}; the lake has {incidents.height} in its window: see incidents.csv")
    chosen = found.row(0, named=True)
    evidence = pl.read_parquet(marts["incident_evidence"]).filter(pl.col("incident_id") == chosen["incident_id"])
    repeated = evidence.with_columns(is_repeat=pl.int_range(pl.len()).over("evidence_id") > 0)
    return Explained(chosen, repeated.sort("seen_at", "source_name", "line", "evidence_id").to_dicts())


def query_lake(query: str, root: Path) -> list[dict[str, object]]:
    """The rows of a select over marts, lake and knowledge tables of the newest snapshot. Raises ValueError for bad SQL."""
    import duckdb

    from bathtub.schema import tables

    lake = Lake(root)
    marts = newest_marts(root)
    with connect([root]) as con:
        for name, frame in knowledge.tables().items():
            provide(con, name, frame)
        for name, files in lake.files(lake.snapshot()).items():
            if files:
                provide(con, name, files)
            else:
                provide_empty(con, tables()[name])
        for name, path in marts.items():
            con.read_parquet(str(path)).create_view(name)
        try:
            relation = con.sql(query)
        except duckdb.Error as error:
            raise ValueError(str(error)) from error
        rows: list[dict[str, object]] = [] if relation is None else relation.pl().to_dicts()
        return rows
