"""The command line. Nothing heavy is imported here: each command imports what it runs.

Data goes to stdout, progress and messages to stderr. Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 done but
inputs were quarantined or coverage is low, 4 a quality gate is breached, 5 another run holds the lock.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from cyclopts import App, CycloptsError, Group, Parameter

from bathtub import __version__
from bathtub.planning.flags import Assumptions, Job, Source

app = App(
    name="bathtub",
    version=__version__,
    help="Why each GPU job died, which part is to blame, how often it fails, and what the vendor gets.",
)
DATA = Group("What the logs say")
Json = Annotated[bool, Parameter(name="--json", negative="", help="JSON lines on stdout; errors as JSON on stderr")]
Tz = Annotated[str | None, Parameter(help="IANA zone of zone-less text and of civil days")]
Cluster = Annotated[str | None, Parameter(help="name of the cluster")]
ConfigFile = Annotated[Path | None, Parameter(help="bathtub.toml")]
FAILED, USAGE, GAPS = 1, 2, 3
Files = Annotated[list[Path], Parameter(help="files, or folders whose files are read")]
LakeDir = Annotated[Path, Parameter(help="folder of the lake")]
_NO_SOURCE, _ANY_JOB, _AS_ASSUMED = Source(), Job(), Assumptions()


class Failed(Exception):
    """A command cannot go on: the message says what, where and what to do."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """What the configuration would say about files, for the commands that need no lake."""

    format_name: Annotated[str | None, Parameter(name="--format", help="read as this format, whatever claims it")] = None
    columns: Annotated[str | None, Parameter(help="columns of a file without header, A,B,…")] = None
    delimiter: Annotated[str | None, Parameter(help="delimiter of its fields")] = None
    config: ConfigFile = None
    cluster: Cluster = None
    tz: Tz = None
    node: Annotated[str | None, Parameter(help="node of files that name none")] = None
    collected_at: Annotated[str | None, Parameter(help="when the files were collected, ISO time")] = None
    booted_at: Annotated[str | None, Parameter(help="when the machine was booted, for times since boot, ISO time")] = None

    def load(self) -> Any:
        """The configuration under these flags."""
        from bathtub.config import Flags, load, utc

        flags = Flags(
            cluster=self.cluster,
            tz=self.tz,
            node=self.node,
            format=self.format_name,
            columns=tuple(name.strip() for name in self.columns.split(",")) if self.columns else (),
            delimiter=self.delimiter,
            collected_at=utc(self.collected_at) if self.collected_at else None,
            booted_at=utc(self.booted_at) if self.booted_at else None,
        )
        return load(self.config, flags)


_AS_CLAIMED = Reading()


@app.command(group=DATA)
def parse(files: Files, *, reading: Reading = _AS_CLAIMED, as_json: Json = False) -> int:
    """Read raw files and print their rows, rejects and counts; no lake is needed."""
    from bathtub.adhoc import parse_files

    return _print_lines(parse_files(files, reading.load()), as_json=as_json)


@app.command(group=DATA)
def judge(files: Files, *, reading: Reading = _AS_CLAIMED, as_json: Json = False) -> int:
    """Read raw files and judge them in memory: bursts, incidents, verdicts."""
    from bathtub.adhoc import judge_files

    return _print_lines(judge_files(files, reading.load()), as_json=as_json)


@app.command(group=DATA)
def hang(
    files: Annotated[list[Path], Parameter(help="folder of the dumps, or the dumps")],
    *,
    world: Annotated[int | None, Parameter(help="number of ranks of the job")] = None,
    as_json: Json = False,
) -> int:
    """Name the ranks to blame for a hang, out of its flight-recorder dumps."""
    from bathtub.hang import hang as judge_dumps

    verdict = judge_dumps(files, world)
    if as_json:
        _print_json(verdict)
    else:
        from bathtub.graph import why_lines

        print(
            f"{verdict['finding']} ({verdict['class']}, {verdict['confidence']}): {verdict.get('summary') or 'nobody is named'}"
        )
        for name in ("culprits", "suspects", "missing"):
            print(f"  {name}: {_listed(verdict[name])}")
        for line in why_lines(verdict):
            print(f"  {line}")
    return 0


@app.command
def nightly(
    *,
    inbox: Annotated[Path, Parameter(help="folder of the raw files")],
    lake: LakeDir,
    out: Annotated[Path, Parameter(help="folder of the reports")],
    cluster: Cluster = None,
    tz: Tz = None,
    day: Annotated[date | None, Parameter(name="--date", help="last civil day of the reports; yesterday by default")] = None,
    first: Annotated[date | None, Parameter(name="--from", help="first civil day of the reports")] = None,
    last: Annotated[date | None, Parameter(name="--to", help="last civil day of the reports")] = None,
    config: ConfigFile = None,
    strict: Annotated[bool, Parameter(negative="", help="exit code 1 in place of 3")] = False,
    as_json: Json = False,
) -> int:
    """Take in what is new in the inbox, judge the whole lake, and write the reports."""
    from bathtub.nightly import Window
    from bathtub.nightly import nightly as run

    if not inbox.is_dir():
        raise Failed(f"--inbox {inbox} is no folder", USAGE)
    if (first is None) != (last is None) or (day is not None and first is not None):
        raise Failed("give --date, or --from and --to together", USAGE)
    if any(folder.resolve().is_relative_to(inbox.resolve()) for folder in (lake, out)):
        raise Failed("--lake and --out must stand outside the inbox, else their files would be read", USAGE)
    if first is not None and last is not None and last < first:
        raise Failed(f"--to {last} lies before --from {first}", USAGE)
    chosen = Reading(config=config, cluster=cluster, tz=tz).load()
    window = Window.of(chosen.cluster.zone or "UTC", day, first, last)
    with _progress() as progress:
        result = run(inbox, lake, out, chosen, window, progress)
    _print_result(result, out, as_json=as_json)
    return FAILED if strict and result.exit_code == GAPS else result.exit_code


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="folder to write everything to")] = Path("demo-out"),
    as_json: Json = False,
) -> int:
    """Simulate a small cluster, run the whole chain on its raw logs, and print found beside planted."""
    from bathtub.showcase import run_demo

    with _progress() as progress:
        shown = run_demo(out, progress)
    if as_json:
        for row in shown.rows():
            _print_json(row)
    else:
        shown.show()
    return 0 if shown.is_right else 1


@app.command
def simulate(
    *,
    out: Annotated[Path, Parameter(help="folder to write the raw files, their configuration and the truth to")],
    seed: Annotated[int, Parameter(help="equal seeds give equal bytes and file times")] = 7,
    nodes: Annotated[int | None, Parameter(help="nodes of eight GPUs, 8 to 4096; 64 by default")] = None,
    days: Annotated[int | None, Parameter(help="days, 3 to 366; 30 by default")] = None,
    rate_factor: Annotated[float | None, Parameter(help="how much more often parts fail than published; 1 by default")] = None,
    noise: Annotated[Literal["on", "off"], Parameter(help="healthy lines and lost log days")] = "on",
    corruption: Annotated[Literal["on", "off"], Parameter(help="flipped bytes, cut lines, copied files")] = "off",
    missing: Annotated[list[Literal["kernel", "recorder", "scheduler"]] | None, Parameter(help="a source to leave out")] = None,
    preset: Annotated[
        Literal["small", "mixed", "llama3"] | None, Parameter(help="size and rates by name; flags go first")
    ] = None,
    as_json: Json = False,
) -> int:
    """Write a simulated cluster's raw files, of all families, and what was planted in them."""
    from bathtub.simulate.full import simulated

    switches = {"has_noise": noise == "on", "has_corruption": corruption == "on", "missing": frozenset(missing or ())}
    sizes = {"n_nodes": nodes, "n_days": days, "rate_factor": rate_factor}
    options = {"seed": seed, **switches, **{name: value for name, value in sizes.items() if value is not None}}
    with _progress() as progress:
        told = simulated(out, preset, options, progress.tell)
    _print_rows([told], as_json=as_json)
    return 0


@app.command
def explain(
    incident: Annotated[str, Parameter(help="incident id, or its beginning")],
    *,
    lake: LakeDir,
    as_json: Json = False,
) -> int:
    """Show an incident as a timeline: job, node, device, rule, and the raw lines with file and line number."""
    from bathtub.explain import explain as told

    found = told(incident, lake)
    if as_json:
        _print_json(found.as_json())
    else:
        print(found.as_text())
    return 0


@app.command
def fit(
    model: Annotated[str, Parameter(help="name of the model")],
    file: Annotated[Path, Parameter(help="lifetimes or cells, .csv or .parquet")],
    *,
    level: Annotated[float, Parameter(help="confidence level")] = 0.95,
    truncation: Annotated[Literal["time", "failure"] | None, Parameter(help="mtbf, trend: how observation ends")] = None,
    option: Annotated[
        tuple[str, ...],
        Parameter(help="of the model, as name=value or name=a,b", negative="", consume_multiple=False),
    ] = (),
    as_json: Json = False,
) -> int:
    """Fit one model to a table and print its estimates with limits, or why it refuses."""
    from bathtub.fit import fit as fitted
    from bathtub.fit import read_options

    options = read_options(model, option) | ({"truncation": truncation} if truncation else {})
    rows = fitted(model, file, level, **options)
    _print_rows(rows, as_json=as_json)
    return 0


@app.command
def plan(
    *, source: Source = _NO_SOURCE, job: Job = _ANY_JOB, assumptions: Assumptions = _AS_ASSUMED, as_json: Json = False
) -> int:
    """Say what a failure rate means for a job: MTBF by size, checkpoints, goodput, spares, days and cost, each simulated too.

    A part stands in the answer where its flags are given. Agreement: within four Monte Carlo errors (mc_error) or not.
    """
    from bathtub.planning.answer import TITLES, answer

    mart = None
    if source.lake is not None:
        from bathtub.explain import newest_marts

        mart = newest_marts(source.lake).get("reliability_cells")
    rows = list(answer(source, job, assumptions, mart))
    if as_json:
        _print_rows(rows, as_json=True)
        return 0
    from bathtub.showcase import show_table

    for name, title in TITLES.items():
        told = [
            {key: value for key, value in row.items() if key not in ("table", "source")} for row in rows if row["table"] == name
        ]
        if told:
            show_table(told, title)
    return 0


@app.command
def sql(
    query: Annotated[str, Parameter(help="a select over marts, models, lake and knowledge tables")],
    *,
    lake: LakeDir,
    as_json: Json = False,
) -> int:
    """Run a query over the newest snapshot of a lake."""
    from bathtub.explain import query_lake

    _print_rows(query_lake(query, lake), as_json=as_json)
    return 0


def _print_json(row: Mapping[str, object]) -> None:
    print(json.dumps(row, default=_text, ensure_ascii=False))


def _text(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return list(value) if isinstance(value, (set, tuple)) else str(value)


def _listed(values: Any) -> str:
    return ", ".join(str(value) for value in values) or "-"


def _print_lines(lines: Iterable[Any], *, as_json: bool) -> int:
    """Prints (table, row) lines as they come; the exit code is 3 where a file was quarantined, or there was nothing at all."""
    n_refused, counts = 0, dict[str, int]()
    for line in lines:
        if line.table == "sources" and line.row.get("status") == "quarantined":
            n_refused += 1
            print(f"{line.row['full_name']}: {line.row['reason']}: {line.row['detail']}", file=sys.stderr)
        if as_json:
            _print_json({"table": line.table, "row": line.row})
        elif line.table in ("sources", "verdicts"):
            print(line)
        counts[line.table] = counts.get(line.table, 0) + 1
    if not counts:
        print("nothing was found: no file, or none with anything to tell", file=sys.stderr)
    if not as_json:
        print("rows: " + (", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if name != "sources") or "none"))
    return GAPS if n_refused or not counts else 0


def _print_rows(rows: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    if as_json:
        for row in rows:
            _print_json(row)
        return
    from bathtub.showcase import show_table

    show_table(rows)


def _print_result(result: Any, out: Path, *, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        _print_json({**asdict(result), "out": str(out)})
        return
    files = ", ".join(f"{n} {status}" for status, n in result.counts.items() if n) or "none"
    print(f"files: {files}")
    for text in (*(f"warning: {each}" for each in result.warnings), *result.findings):
        print(text, file=sys.stderr)
    print(f"report {result.report_id} in {out}; run.json there has every count")


def _progress() -> Any:
    """A progress bar on stderr at a terminal, nothing elsewhere."""
    from bathtub.showcase import progress

    return progress(sys.stderr.isatty() and "NO_COLOR" not in os.environ)


def _expected() -> Mapping[type[BaseException], int]:
    """The exceptions that are outcomes, with their exit codes; only those whose module is loaded can have been raised."""
    named = {
        ("bathtub.config", "ConfigError"): 2,
        ("bathtub.lake", "LakeLocked"): 5,
        ("bathtub.lake", "LakeError"): 1,
        ("bathtub.explain", "NotFound"): 1,
        ("bathtub.source", "Quarantine"): 2,
    }
    loaded = {getattr(sys.modules[module], name): code for (module, name), code in named.items() if module in sys.modules}
    return {**loaded, ValueError: 2, FileNotFoundError: 2, OSError: 1}


def _fail(message: str, code: int, *, as_json: bool) -> NoReturn:
    text = json.dumps({"error": message, "exit_code": code}) if as_json else f"bathtub: {message}"
    print(text, file=sys.stderr)
    sys.exit(code)


def main(run: Callable[[], Any] = app) -> None:
    """Runs the command line and exits."""
    as_json = "--json" in sys.argv
    try:
        app(exit_on_error=False, print_error=not as_json) if run is app else run()
        sys.stdout.flush()
    except Failed as error:
        _fail(str(error), error.code, as_json=as_json)
    except CycloptsError as error:
        if as_json:
            _fail(str(error), USAGE, as_json=True)
        sys.exit(USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone: no further write may fail
        sys.exit(0)
    except KeyboardInterrupt:
        _fail("interrupted", 1, as_json=as_json)
    except Exception as error:
        code = next((code for kind, code in _expected().items() if isinstance(error, kind)), None)
        if code is None:
            raise
        _fail(str(error), code, as_json=as_json)
