"""Reports: frames of the marts as CSV files, found by walking the package; each module exports REPORT."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import polars as pl

from bathtub.reports._csv import Report, write


@dataclass(frozen=True)
class Context:
    """What a report may say beside its marts."""

    report_id: str
    knowledge_version: str
    level: float
    burst_gap_s: float
    window_start_at: object
    window_end_at: object


@dataclass(frozen=True)
class ReportModel:
    """One CSV: the marts it reads, its columns (order fixed, extended only at the end) with their meaning, its rows."""

    name: str
    reads: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: Callable[[Mapping[str, pl.DataFrame], Context], pl.DataFrame]

    def csv(self, marts: Mapping[str, pl.DataFrame], context: Context) -> Report:
        """The file."""
        return write(f"{self.name}.csv", self.rows(marts, context), [name for name, _ in self.columns])


@cache
def reports() -> dict[str, ReportModel]:
    """Every report by name."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if not module.name.startswith("_"):
            exported: ReportModel = importlib.import_module(f"{__name__}.{module.name}").REPORT
            found[exported.name] = exported
    return found


def dictionary() -> Report:
    """data_dictionary.csv: every column of every report. Ids, serials and addresses are text."""
    rows = [
        {"file": f"{each.name}.csv", "position": position, "column": name, "meaning": meaning}
        for each in reports().values()
        for position, (name, meaning) in enumerate(each.columns, start=1)
    ]
    return write("data_dictionary.csv", pl.DataFrame(rows), ["file", "position", "column", "meaning"])
