"""Publishing: the CSVs of a run with their manifest, replaced in one step each, and run.json.

manifest.json is deterministic: inputs with their counts, parameters, sums of the CSVs. run.json alone has the clock,
table versions, the revision and what became of each file.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl
from blake3 import blake3

from bathtub import __version__
from bathtub.config import Config
from bathtub.intake import Outcome
from bathtub.lake import Snapshot, write_atomically
from bathtub.reports import Context, dictionary, reports
from bathtub.reports._csv import Report

KEPT_REVISIONS = "revisions"

Ends = tuple[datetime | None, datetime]
"""Start and end of the window, UTC, half-open."""


@dataclass(frozen=True)
class Published:
    """What a run published: the report's id, and how many earlier revisions are kept."""

    report_id: str
    revision: int


def publish(
    out: Path, config: Config, ends: Ends, frames: Mapping[str, pl.DataFrame], live: pl.DataFrame, version: str
) -> Published:
    """Writes the CSVs and manifest.json; earlier ones that differ go to out/revisions/N/."""
    cells = frames["reliability_cells"]
    start_at = cells["window_start_at"].min() if cells.height else ends[0]
    context = Context(
        report_id=_report_id(config, ends, live, version),
        knowledge_version=version,
        level=config.level,
        burst_gap_s=config.windows.burst_gap_s,
        window_start_at=start_at,
        window_end_at=ends[1],
    )
    files = [each.csv(frames, context) for each in reports().values()] + [dictionary()]
    manifest = _manifest(config, context, frames, live, files)
    revision = _replace(out, {**{each.name: each.content for each in files}, "manifest.json": manifest})
    return Published(context.report_id, revision)


def _report_id(config: Config, ends: Ends, live: pl.DataFrame, version: str) -> str:
    ids = live.filter(pl.col("status") == "ingested")["source_id"].sort()
    parts = [config.cluster.name, str(ends[0]), str(ends[1]), version, *ids]
    return blake3("\x00".join(parts).encode()).hexdigest()[:12]


def _manifest(
    config: Config, context: Context, frames: Mapping[str, pl.DataFrame], live: pl.DataFrame, files: Sequence[Report]
) -> bytes:
    """The deterministic account of a report: inputs with their counts, parameters, sums of the CSVs."""
    columns = [
        "source_id",
        "content_id",
        "name",
        "format",
        "status",
        "reason",
        "n_read",
        "n_kept",
        "n_rejected",
        "n_out_of_scope",
    ]
    return _json({
        "report_id": context.report_id,
        "bathtub_version": __version__,
        "knowledge_version": context.knowledge_version,
        "window_start_at": context.window_start_at,
        "window_end_at": context.window_end_at,
        "parameters": {**msgspec.structs.asdict(config.windows), "level": config.level, "node_name": config.cluster.node_name},
        "inputs": live.select(columns).sort("name", "source_id").to_dicts(),
        "unclassified": unclassified(frames["incidents"]),
        "coverage": frames["coverage_report"].to_dicts(),
        "reports": [_sums(each) for each in sorted(files, key=lambda each: each.name)],
    })  # fmt: skip


def _sums(file: Report) -> dict[str, object]:
    sha256 = hashlib.sha256(file.content).hexdigest()
    return {"name": file.name, "rows": file.n_rows, "guarded_cells": file.n_guarded, "sha256": sha256}


def unclassified(incidents: pl.DataFrame) -> dict[str, float | int | None]:
    """The headline: what share of the failures is unknown, with and without jobs that just exited."""
    failures = incidents.filter(pl.col("is_failure"))
    unknown = failures.filter(pl.col("component") == "unknown")
    exits = unknown.filter(pl.col("cause") == "job_exit")
    rest = failures.height - exits.height
    return {
        "failures": failures.height,
        "unknown": unknown.height,
        "job_exits": exits.height,
        "ratio": round(unknown.height / failures.height, 4) if failures.height else None,
        "ratio_without_job_exits": round((unknown.height - exits.height) / rest, 4) if rest else None,
    }


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, default=_text) + "\n").encode()


def _text(value: object) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def _replace(out: Path, files: Mapping[str, bytes]) -> int:
    """Replaces the reports in `out` where they differ; the earlier ones move to revisions/N/. Returns N, the number kept."""
    out.mkdir(parents=True, exist_ok=True)
    kept = sorted(int(folder.name) for folder in (out / KEPT_REVISIONS).glob("*") if folder.name.isdigit())
    earlier = {name: (out / name).read_bytes() for name in files if (out / name).exists()}
    is_whole = "manifest.json" in earlier  # it is written last: without it the earlier reports were never finished
    if is_whole and any(earlier.get(name) != content for name, content in files.items()):
        number = (kept[-1] if kept else 0) + 1
        temporary = out / KEPT_REVISIONS / f".{number}"
        shutil.rmtree(temporary, ignore_errors=True)
        for name, content in earlier.items():
            write_atomically(temporary / name, content)
        temporary.replace(out / KEPT_REVISIONS / str(number))
        (out / "manifest.json").unlink()
        kept.append(number)
    for name, content in sorted(files.items(), key=lambda item: item[0] == "manifest.json"):
        if earlier.get(name) != content or not (out / name).exists():
            write_atomically(out / name, content)
    return len(kept)


def write_run(
    out: Path, run_id: str, started_at: datetime, result: object, outcomes: Sequence[Outcome], snapshot: Snapshot
) -> None:
    """run.json: the clock, table versions, revision and every count: what is not deterministic stands here alone."""
    counts = ("n_read", "n_kept", "n_rejected", "n_out_of_scope")
    write_atomically(
        out / "run.json",
        _json(
            {
                "run_id": run_id,
                "started_at": started_at,
                "ended_at": datetime.now(UTC),
                **asdict(result),  # type: ignore[call-overload]
                "snapshot": dict(snapshot),
                "files": [
                    {
                        "full_name": each.full_name,
                        "status": each.status,
                        "reason": each.reason or (each.row or {}).get("reason"),
                        **{name: (each.row or {}).get(name) for name in ("source_id", "format", "detail", *counts)},
                    }
                    for each in outcomes
                ],
            }
        ),
    )
