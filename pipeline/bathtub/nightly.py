"""The one orchestration: take in, check, classify, estimate, report.

Incremental and idempotent: what is known costs a look; any kill leaves a readable lake, and the next run gives the
same tables and CSVs as a run that was never killed.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from multiprocessing import get_context
from pathlib import Path
from uuid import uuid4

import duckdb
import msgspec
import polars as pl

from bathtub import knowledge
from bathtub.config import Config, Knowledge, check_zone
from bathtub.intake import Intake, Outcome, Task, discover, load_seen, save_seen, take
from bathtub.lake import Change, Lake, Snapshot, locked
from bathtub.publish import publish, write_run
from bathtub.schema import table, tables
from bathtub.spool import Spool
from bathtub.warehouse import build, checks, connect, marts, rebuild

BATCH_FILES = 256
BATCH_BYTES = 256 << 20
MIN_WORKERS = 2
PARALLEL_BYTES = 64 << 20
"""Content from which a second process pays for its start."""
DONE, DONE_WITH_GAPS, GATE_BREACHED = 0, 3, 4


@dataclass(frozen=True)
class Window:
    """The reports' window, UTC, half-open; no start is the first thing that the lake tells."""

    start_at: datetime | None
    end_at: datetime

    @classmethod
    def of(cls, zone: str, day: date | None, first: date | None, last: date | None) -> "Window":
        """The civil days of a zone: up to the end of `day` (yesterday by default), or from `first` to `last`."""
        there = check_zone(zone)
        until = last or day or datetime.now(there).date() - timedelta(days=1)
        end = datetime.combine(until + timedelta(days=1), time(), there).astimezone(UTC)
        return cls(None if first is None else datetime.combine(first, time(), there).astimezone(UTC), end)


@dataclass
class Result:
    """What a run did, as run.json tells it."""

    exit_code: int
    counts: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    report_id: str = ""
    revision: int = 0


@dataclass(frozen=True)
class Progress:
    """Where a run tells how far it is: stage, done, total."""

    tell: Callable[[str, int, int], None] = lambda _stage, _done, _total: None


def nightly(inbox: Path, lake_dir: Path, out: Path, config: Config, window: Window, progress: Progress | None = None) -> Result:
    """One run. Raises LakeLocked, LakeError, ConfigError, OSError; everything about inputs is in the Result."""
    progress = progress or Progress()
    started_at, run_id = datetime.now(UTC), uuid4().hex[:12]
    with locked(lake_dir):
        lake = Lake(lake_dir, config.lake.retention_days)
        lake.create()
        had_data = not lake.sources().is_empty()
        outcomes = take_in(inbox, lake, config, run_id, progress)
        lake.maintain(run_id)
        snapshot = lake.snapshot()
        findings, frames, live, version = classify(lake, snapshot, config, window, progress)
        keep_marts(lake_dir, snapshot, frames)
        published = publish(out, config, (window.start_at, window.end_at), frames, live, version)
        result = Result(DONE, findings=findings, report_id=published.report_id, revision=published.revision)
        found = gaps(outcomes, frames, live, config)
        result.warnings = found + late(outcomes, had_data=had_data, window=window, config=config)
        result.counts = _counts(outcomes)
        result.exit_code = _exit_code(result, has_gaps=bool(found))
        write_run(out, run_id, started_at, result, outcomes, snapshot)
        _trim_marts(lake_dir, snapshot)
    return result


def take_in(inbox: Path, lake: Lake, config: Config, run_id: str, progress: Progress) -> list[Outcome]:
    """Reads every file of the inbox that is not known, in batches of one commit each."""
    live = lake.sources()
    seen_path = lake.root / "seen.json"
    seen = load_seen(seen_path)
    tasks, outcomes = Intake(config, live, seen).decide(discover(inbox))
    done = 0
    with readers(tasks, config.limits.threads) as read:
        for number, batch in enumerate(_batches(tasks)):
            folder = lake.root / "spool" / f"{number:05}"
            taken = list(read(take, batch, (folder / f"{index:05}" for index in range(len(batch)))))
            _commit(lake, live, batch, taken, folder, run_id)
            outcomes += taken
            done += len(batch)
            progress.tell("reading", done, len(tasks))
    if tasks:
        save_seen(seen_path, tasks, seen)
    return sorted(outcomes, key=lambda each: each.full_name)


@contextmanager
def readers(tasks: Sequence[Task], n_workers: int) -> Iterator[Callable[..., Iterable[Outcome]]]:
    """A `map`: over processes where there is enough to read, in this one otherwise. The results are the same.

    Processes are spawned: a fork after polars and deltalake have started their threads would hang.
    """
    if n_workers < MIN_WORKERS or len(tasks) < MIN_WORKERS or sum(each.source.n_bytes for each in tasks) < PARALLEL_BYTES:
        yield map
        return
    with ProcessPoolExecutor(min(n_workers, len(tasks)), mp_context=get_context("spawn")) as pool:
        yield pool.map


def _batches(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Tasks in groups of at most BATCH_FILES files and about BATCH_BYTES bytes."""
    batch: list[Task] = []
    for task in tasks:
        if batch and (
            len(batch) == BATCH_FILES or sum(each.source.n_bytes for each in batch) + task.source.n_bytes > BATCH_BYTES
        ):
            yield batch
            batch = []
        batch.append(task)
    if batch:
        yield batch


def _commit(lake: Lake, live: pl.DataFrame, batch: Sequence[Task], taken: Sequence[Outcome], folder: Path, run_id: str) -> None:
    """Commits a batch; a file whose row is the same as before (a quarantine that still holds) changes nothing."""
    before = {row["source_id"]: row for row in live.iter_rows(named=True)}
    new = [each for each in taken if each.row is not None and before.get(str(each.row["source_id"])) != dict(each.row)]
    if not new:
        return
    rows = pl.DataFrame([each.row for each in new], schema=table("sources").polars, orient="row")
    gone = live.filter(pl.col("source_id").is_in(sorted({source_id for each in new for source_id in each.gone})))
    spools = [Spool(folder / f"{index:05}") for index in range(len(batch))]
    lake.commit(Change(spools, rows, gone), run_id)


def parameters(
    config: Config, window: Window | None = None, knowledge_version: str = "", world: int | None = None
) -> pl.DataFrame:
    """The one row of the relation `parameters`."""
    end_at = window.end_at if window else datetime(2100, 1, 1, tzinfo=UTC)
    row = {
        **msgspec.structs.asdict(config.windows),
        "node_name": config.cluster.node_name,
        "zone": config.cluster.zone,
        "longitude_deg": config.cluster.longitude_deg,
        "window_start_at": window.start_at if window else None,
        "window_end_at": end_at,
        "knowledge_version": knowledge_version,
        "world_size": world,
    }
    stamps = dict.fromkeys(("window_start_at", "window_end_at"), pl.Datetime("us", "UTC"))
    others = {"world_size": pl.Int64(), "zone": pl.String(), "longitude_deg": pl.Float64()}
    return pl.DataFrame([row], schema_overrides={**stamps, **others})


def classify(
    lake: Lake, snapshot: Snapshot, config: Config, window: Window, progress: Progress
) -> tuple[list[str], dict[str, pl.DataFrame], pl.DataFrame, str]:
    """All SQL over a snapshot: the broken promises, the marts, the live sources, the knowledge version."""
    known = knowledge.tables(config.knowledge, Path(config.folder))
    version = knowledge.version(known)
    inputs: dict[str, pl.DataFrame | Sequence[str]] = {**lake.files(snapshot), **known}
    inputs["parameters"] = parameters(config, window, version)
    done: list[str] = []

    def step(name: str) -> None:
        done.append(name)
        progress.tell("classifying", len(done), 0)

    with connect([lake.root], config.limits.memory, config.limits.threads) as con:
        build(con, inputs, on_step=step)
        frames = {name: con.table(name).pl() for name in marts()}
        frames["rate_variants"] = variants(con, config, known)
        live = con.table("sources").pl().sort("source_id")
        findings = [f"{name}: {len(rows)} violations" for name, sql in checks().items() if (rows := con.execute(sql).fetchall())]
        findings += gate(con, config)
    return findings, frames, live, version


def variants(con: duckdb.DuckDBPyConnection, config: Config, known: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The mart `reliability_cells` as it would be with another burst gap or other rules: `variant` says which."""
    now, gap = con.table("parameters").pl(), config.windows.burst_gap_s
    chosen: dict[str, Mapping[str, pl.DataFrame]] = {
        "burst gap x 0.5": {"parameters": now.with_columns(burst_gap_s=pl.lit(gap / 2))},
        "burst gap x 2": {"parameters": now.with_columns(burst_gap_s=pl.lit(gap * 2))},
        "no rules of low confidence": {"rules": known["rules"].filter(pl.col("confidence") != "low")},
    }
    if config.knowledge != Knowledge():
        chosen["shipped rules"] = {name: knowledge.tables()[name] for name in knowledge.KEYS}
    found = {name: rebuild(con, changed, "reliability_cells") for name, changed in chosen.items()}
    return pl.concat(cells.with_columns(variant=pl.lit(name)) for name, cells in found.items())


def gate(con: object, config: Config) -> list[str]:
    """What the quality gate finds critical, and its warnings, in words."""
    from bathtub.checks import facts
    from bathtub.checks import gate as judge

    found = judge(facts(con), tables().values(), config.limits.max_reject_ratio)  # type: ignore[arg-type]
    return [f"{each.severity}: {each.table} {each.event_day or ''} {each.promise} {each.detail}" for each in found]


def keep_marts(root: Path, snapshot: Snapshot, frames: Mapping[str, pl.DataFrame]) -> None:
    """Writes each mart beside the lake's tables, under the snapshot that it is of: what readers open."""
    final = root / "marts" / str(snapshot["sources"])
    temporary = root / "marts" / f".{snapshot['sources']}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    for name, frame in frames.items():
        frame.write_parquet(temporary / f"{name}.parquet", compression="zstd")
    shutil.rmtree(final, ignore_errors=True)
    temporary.replace(final)


def _trim_marts(root: Path, snapshot: Snapshot) -> None:
    """Only the newest snapshot's marts stay: an older report can be made again from the lake."""
    for folder in (root / "marts").iterdir():
        if folder.name != str(snapshot["sources"]):
            shutil.rmtree(folder, ignore_errors=True)


def gaps(outcomes: Sequence[Outcome], frames: Mapping[str, pl.DataFrame], live: pl.DataFrame, config: Config) -> list[str]:
    """What makes a run end with gaps, in words: nothing to read, quarantined files, low coverage."""
    found = [] if outcomes else ["the inbox holds no file: is it mounted?"]
    refused = {each.full_name for each in outcomes if each.status == "quarantined"}
    refused |= set(live.filter(pl.col("status") == "quarantined")["full_name"])
    if refused:
        found.append(f"{len(refused)} files are quarantined, such as {min(refused)}: run.json says why")
    low = frames["coverage_report"].filter(pl.col("coverage_ratio") < config.limits.min_coverage_ratio)
    least = f"below min_coverage_ratio = {config.limits.min_coverage_ratio}"
    return found + [
        f"{row['cluster']}: logs of {row['n_node_days_observed']} of {row['n_node_days']} node-days, {least}"
        for row in low.iter_rows(named=True)
    ]


def late(outcomes: Iterable[Outcome], *, had_data: bool, window: Window, config: Config) -> list[str]:
    """One warning where new files restate days beyond lookback_days; a lake that was empty has no late data."""
    edge = window.end_at - timedelta(days=config.lake.lookback_days)
    rows = [each.row for each in outcomes if each.row is not None and each.status in ("new", "grown", "replaced")]
    old = [row["first_at"] for row in rows if isinstance(row["first_at"], datetime) and row["first_at"] < edge]
    if not had_data or not old:
        return []
    days = f"days from {min(old):%Y-%m-%d} on are restated"
    return [f"{len(old)} files are older than lookback_days = {config.lake.lookback_days}: {days}"]


def _counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Files by what became of them."""
    found = dict.fromkeys(("new", "known", "copy", "contained", "grown", "replaced", "quarantined"), 0)
    for each in outcomes:
        found[each.status] += 1
    return found


def _exit_code(result: Result, *, has_gaps: bool) -> int:
    """4 where a promise is broken; 3 where nothing was there, inputs are quarantined, much is rejected, or coverage is low."""
    if any(not each.startswith("warning") for each in result.findings):
        return GATE_BREACHED
    return DONE_WITH_GAPS if has_gaps or result.findings else DONE
