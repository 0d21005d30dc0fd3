"""What a person sees at a terminal: tables, a progress bar, and the demo's summary."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from bathtub import config
from bathtub.demo import compare, score
from bathtub.nightly import Progress, Window, nightly
from bathtub.publish import unclassified
from bathtub.simulate import write_demo

FIRST_DAY, LAST_DAY = date(2026, 3, 2), date(2026, 3, 15)
WIDTH = 150


def show_table(rows: Sequence[Mapping[str, object]], title: str | None = None) -> None:
    """Rows as a table on stdout; no rows are said to be none."""
    console = Console(width=None if Console().is_terminal else WIDTH)
    if not rows:
        console.print("no rows")
        return
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - four digits
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@contextmanager
def progress(is_shown: bool) -> Iterator[Progress]:  # noqa: FBT001 - the only thing it is asked
    """Tells how far a run is, on stderr, where somebody looks."""
    if not is_shown:
        yield Progress()
        return
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, object] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total or None)
            bar.update(tasks[stage], completed=done)  # type: ignore[arg-type]

        yield Progress(tell)


@dataclass(frozen=True)
class Shown:
    """The demo's outcome."""

    folder: Path
    compared: pl.DataFrame
    reliability: pl.DataFrame
    llama3: pl.DataFrame
    incidents: pl.DataFrame

    @property
    def is_right(self) -> bool:
        """Whether everything planted was found and judged as its evidence allows."""
        scored = score(self.compared)
        return scored["right"] == scored["planted"] and scored["wrong_confident"] == 0 and scored["extra"] == 0

    def rows(self) -> Iterator[Mapping[str, object]]:
        """Everything, for JSON lines."""
        yield from ({"table": "compared", "row": row} for row in self.compared.iter_rows(named=True))
        yield from ({"table": "reliability", "row": row} for row in self.reliability.iter_rows(named=True))
        yield {"table": "score", "row": {**score(self.compared), "is_right": self.is_right, "out": str(self.folder / "out")}}

    def show(self) -> None:
        """Found beside planted, the components with intervals, and where the files are."""
        names = ["planted_id", "expected_component", "found_component", "confidence", "is_serial_right", "verdict"]
        show_table(self.compared.select(names).to_dicts(), "planted and found")
        title = "MTBF per component over the device-hours in service, 95 % limits, beside the counts of the Llama 3 table"
        show_table(_with_limits(self.reliability, self.llama3), title)
        scored, headline = score(self.compared), unclassified(self.incidents)
        print(f"{scored['right']} of {scored['planted']} planted incidents are judged as their evidence allows;")
        print(f"{scored['wrong_confident']} wrong with confidence, {scored['missed']} missed, {scored['extra']} not planted.")
        unknown, exits = headline["unknown"], headline["job_exits"]
        print(f"Of {headline['failures']} failures {unknown} are unclassified, {exits} of them mere exits.")
        for name in ("incidents", "reliability", "rma_candidates", "llama3"):
            print(f"  {self.folder / 'out' / name}.csv")
        incident_id = self.incidents["incident_id"][0]
        print(f"next: bathtub explain {incident_id} --lake {self.folder / 'lake'}")


def _with_limits(reliability: pl.DataFrame, llama3: pl.DataFrame) -> list[dict[str, object]]:
    """The components' figures over the hours in service, beside the row of the Llama 3 table that they stand for."""
    from bathtub.knowledge import tables

    rows = tables()["components"].select("component", "llama3_row")
    published = llama3.select("llama3_row", "published_count", "published_pct")
    shown = reliability.filter(pl.col("exposure_kind") == "in_service").join(
        rows, on="component", how="left", maintain_order="left"
    )
    shown = shown.join(published, on="llama3_row", how="left", maintain_order="left")
    limits = {"low": "mtbf_h_low", "high": "mtbf_h_high", "at_least": "mtbf_h_lower_bound"}
    beside = {"llama3_row": "llama3_row", "count": "published_count", "pct": "published_pct"}
    named = [pl.col(column).alias(name) for name, column in (limits | {"fit_60": "fit_60", "fit_90": "fit_90"} | beside).items()]
    return (
        shown.sort("failures", descending=True, maintain_order=True).select("component", "failures", "mtbf_h", *named).to_dicts()
    )


def run_demo(folder: Path, tell: Progress) -> Shown:
    """Simulates the cluster below `folder`, runs the whole chain on it, and compares with what was planted."""
    write_demo(folder)
    chosen = config.load(folder / "bathtub.toml")
    window = Window.of(chosen.cluster.zone or "UTC", None, FIRST_DAY, LAST_DAY)
    nightly(folder / "inbox", folder / "lake", folder / "out", chosen, window, tell)
    out = folder / "out"
    return Shown(
        folder=folder,
        compared=compare(out / "incidents.csv", folder / "truth.csv"),
        reliability=pl.read_csv(out / "reliability.csv", try_parse_dates=True, infer_schema_length=None),
        llama3=pl.read_csv(out / "llama3.csv"),
        incidents=pl.read_csv(out / "incidents.csv", infer_schema_length=None),
    )
