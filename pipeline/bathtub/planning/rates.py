"""Failure rates of an instance that a plan rests on: given, counted, or out of reliability.csv or its mart, by component.

A rate that was only given has no limits. Without a failure there is no rate, only the upper bound, and every figure is one-sided.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bathtub.knowledge import tables
from bathtub.survival.mtbf import mtbf

LEAST_PER_HOUR, MOST_PER_HOUR = 1e-15, 1e6
MOST = 1e15
EXPOSURES = ("in_service", "allocated", "observed")
_COLUMNS = ("population", "component", "exposure_kind", "failures", "device_hours")


@dataclass(frozen=True)
class Rate:
    """Failures per instance-hour with limits; without a failure `estimate` and `low` are null and `high` is one-sided."""

    estimate: float | None
    low: float | None
    high: float | None
    reason: str | None = None

    def told(self, figure: Callable[[float], float | None], *, falls: bool) -> dict[str, float | str | None]:
        """A figure at the rate and at its limits, as estimate, low, high, reason; what has no number is null.

        `falls`: whether the figure gets smaller as the rate grows, so that the rate's upper limit gives its lower one.
        """
        estimate, at_low, at_high = (_finite(figure, value) for value in (self.estimate, self.low, self.high))
        low, high = (at_high, at_low) if falls else (at_low, at_high)
        return {"estimate": estimate, "low": low, "high": high, "reason": self.reason}


def _finite(figure: Callable[[float], float | None], rate: float | None) -> float | None:
    found = None if rate is None else figure(rate)
    return found if found is not None and math.isfinite(found) else None


def given(rate: float) -> Rate:
    """A rate without its counts. Raises ValueError outside 1e-15 to 1e6 per hour."""
    if not LEAST_PER_HOUR <= rate <= MOST_PER_HOUR:
        raise ValueError(f"{rate:g} failures per instance-hour: give {LEAST_PER_HOUR:g} to {MOST_PER_HOUR:g}")
    return Rate(rate, None, None)


def counted(failures: int, instance_h: float, level: float) -> Rate:
    """The rate of a count with exact limits (Garwood). Raises ValueError for a negative count and where there are no hours."""
    if not (0 <= failures <= MOST and 0 <= instance_h <= MOST):
        raise ValueError(f"{failures} failures in {instance_h:g} instance-hours: give a count and hours, up to {MOST:g}")
    found = mtbf(pl.DataFrame({"failures": [failures], "exposure_h": [float(instance_h)]}), level).row(0, named=True)
    if found["reason"] == "no_failures":
        return Rate(None, None, 1 / found["lower_bound"], "no_failures")
    if found["reason"] is not None:
        raise ValueError(f"no rate: {found['reason']} ({failures} failures in {instance_h:g} instance-hours)")
    if not failures / instance_h <= MOST_PER_HOUR:
        raise ValueError(f"{failures} failures in {instance_h:g} instance-hours are too many to plan with")
    return Rate(1 / found["estimate"], 1 / found["high"], 1 / found["low"])


@dataclass(frozen=True)
class Measured:
    """What a report says of one cluster over one kind of exposure: failures by component in the same instance-hours."""

    instance_h: float
    n_instances: int | None
    failures: dict[str, int]
    not_seen: tuple[str, ...]
    """Components that no source of the window could show: their failures are not in the sum."""


def read(path: Path, kind: str | None, population: str | None) -> Measured:
    """reliability.csv (as nightly writes it), or the mart reliability_cells (.parquet), for one cluster and exposure.

    Instance-hours are those of components of whole nodes. Without `kind` the first of in_service, allocated, observed that
    has hours. Raises FileNotFoundError, or ValueError for another table and where it leaves a choice open.
    """
    cells = _cells(path)
    names = cells["population"].unique().sort().to_list()
    if population is None and len(names) != 1:
        raise ValueError(f"{path.name} has {len(names)} clusters: name one by --cluster ({', '.join(map(str, names))})")
    cells = cells.filter(pl.col("population") == (population or names[0]))
    for each in (kind,) if kind else EXPOSURES:
        found = cells.filter(pl.col("exposure_kind") == each)
        hours = found.filter(pl.col("exposure_class") == "node")["device_hours"].max()
        if isinstance(hours, float) and hours > 0:
            return _measured(found, hours)
    raise ValueError(f"{path.name} has no instance-hours ({kind or ', '.join(EXPOSURES)}) of {population or 'its cluster'}")


def _cells(path: Path) -> pl.DataFrame:
    """The table with device_hours, exposure_class and is_readable, whichever of the two files it is."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no readable table: {error}") from error
    if "exposure_h" in frame.columns:
        frame = frame.rename({"exposure_h": "device_hours"})
    missing = [name for name in _COLUMNS if name not in frame.columns]
    if missing or not {"reason", "is_readable"} & set(frame.columns):
        raise ValueError(
            f"{path.name} has no column {(*missing, 'reason')[0]!r}: give reliability.csv, or its mart reliability_cells"
        )
    if "is_readable" not in frame.columns:
        frame = frame.with_columns(is_readable=~pl.col("reason").eq_missing("no_source_read"))
    classes = tables()["components"].select("component", "exposure_class")
    frame = frame.drop("exposure_class", strict=False).join(classes, on="component", how="left", maintain_order="left")
    devices = pl.col("n_devices") if "n_devices" in frame.columns else pl.lit(None)
    return frame.with_columns(
        pl.col("device_hours").cast(pl.Float64, strict=False),
        pl.col("failures").cast(pl.Int64, strict=False),
        n_devices=devices.cast(pl.Int64, strict=False),
    )


def _measured(found: pl.DataFrame, hours: float) -> Measured:
    seen = found.filter("is_readable")
    if seen.filter(pl.col("failures").is_null() | (pl.col("failures") < 0)).height:
        raise ValueError("a component's failures are no count: give the table as nightly wrote it")
    n_instances = found.filter(pl.col("exposure_class") == "node")["n_devices"].max()
    return Measured(
        instance_h=hours,
        n_instances=n_instances if isinstance(n_instances, int) else None,
        failures=dict(seen.group_by("component").agg(pl.col("failures").sum()).sort("component").iter_rows()),
        not_seen=tuple(found.filter(~pl.col("is_readable"))["component"].unique().sort()),
    )
