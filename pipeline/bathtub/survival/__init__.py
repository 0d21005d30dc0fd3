"""Model: the contract of every estimator, how estimators are found, and the frame that each gives back.

A model is one module of this package that exports MODEL; it is found by walking the package, and a module that
fails to import fails the run. A model refuses (null and a reason) rather than extrapolates.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from bathtub.survival._tables import Reads, check, read_table

__all__ = ["RESULT", "Model", "Reads", "arrange", "check", "labels", "models", "read_table"]

RESULT: Mapping[str, pl.DataType] = {
    "quantity": pl.String(),  # what is estimated, unit in the name: mtbf_h, survival_ratio
    "estimate": pl.Float64(),
    "low": pl.Float64(),  # two-sided limits at confidence_level; null where there is none
    "high": pl.Float64(),
    "confidence_level": pl.Float64(),
    "method": pl.String(),  # of the limits: exact, log, log-log, profile, bootstrap
    "events": pl.Int64(),  # failures that the estimate rests on
    "exposure_h": pl.Float64(),  # unit-hours that it rests on; null where the model has none
    "min_detectable_ratio": pl.Float64(),  # smallest ratio found with 80 % power, 5 % two-sided; null without failures
    "assumptions": pl.String(),
    "reason": pl.String(),  # a stable word where the estimate is null; null where it is given
}
"""The columns that every model gives back, in this order: labels in front of them, the model's own behind."""


@dataclass(frozen=True)
class Model:
    """One estimator. `fit(frame, level=0.95, **options)` takes a frame that `check(frame, reads)` accepts.

    `reads`: cells (failures, exposure_h, labels) or lifetimes (unit, entry_h, exit_h, event, cause, labels).
    `doc`: one line for the list of models.
    """

    name: str
    reads: Reads
    fit: Callable[..., pl.DataFrame]
    doc: str


@cache
def models() -> dict[str, Model]:
    """Every model by name, found by walking this package's public modules."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if not module.name.startswith("_"):
            exported: Model = importlib.import_module(f"{__name__}.{module.name}").MODEL
            found[exported.name] = exported
    return found


def labels(frame: pl.DataFrame, taken: Sequence[str]) -> list[str]:
    """The columns of a cells table that only name the cell, in order: all but failures and exposure_h.

    Raises ValueError where a label bears the name of a result column (`RESULT` and `taken`).
    """
    found = [column for column in frame.columns if column not in ("failures", "exposure_h")]
    refuse_taken(found, taken)
    return found


def refuse_taken(names: Sequence[str], taken: Sequence[str]) -> None:
    """Raises ValueError where a label would be overwritten by a result column."""
    for name in names:
        if name in RESULT or name in taken:
            message = f"column {name!r}: the result has a column of that name; rename the label"
            raise ValueError(message)


def arrange(frame: pl.DataFrame, front: Sequence[str], own: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with `front` first, then RESULT, then the model's own columns, each in its type; NaN becomes null."""
    typed = [pl.col(name).cast(dtype) for name, dtype in {**RESULT, **own}.items()]
    floats = [pl.col(name).fill_nan(None) for name, dtype in {**RESULT, **own}.items() if dtype == pl.Float64()]
    return frame.select(*front, *typed).with_columns(floats)


def confidence(level: float) -> float:
    """The level as given. Raises ValueError outside (0, 1): 0.95, not 95."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        message = f"confidence level {level!r}: give a number between 0 and 1, such as 0.95"
        raise ValueError(message)
    return float(level)


def option(name: str, value: Any, allowed: Sequence[str]) -> str:
    """A word of a closed list. Raises ValueError naming the list."""
    if value not in allowed:
        message = f"{name} {value!r}: give one of {', '.join(allowed)}"
        raise ValueError(message)
    return str(value)
