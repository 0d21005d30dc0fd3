"""What models over lifetimes share: groups of rows, what is wrong with the spells of a group, covariates, rows of results."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import RESULT, arrange, check, refuse_taken

Floats = npt.NDArray[np.float64]
Names = Sequence[str] | str

POWER_Z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
"""Standard errors between no effect and one that is found with 80 % power at 5 % two-sided."""
LARGEST_EXPONENT = 700.0
AGE_KNOWN = "age_known"
"""An optional column of lifetimes: false or empty where entry_h is not the age, which refuses models of age."""
MOST_VALUES, LARGEST = 50, 1e100
SHORTEST_H, LONGEST_H = 1e-9, 1e9  # outside these another unit was given


def bounded_exp(power: float) -> float:
    """exp(power), held where floats end."""
    return math.exp(min(max(float(power), -LARGEST_EXPONENT), LARGEST_EXPONENT))


def columns(frame: pl.DataFrame, given: Names, option: str) -> list[str]:
    """The named columns, each once. Raises ValueError where the table has no such column."""
    found = list(dict.fromkeys([given] if isinstance(given, str) else given))
    for name in found:
        if name not in frame.columns:
            message = f"{option} {name!r}: no column of that name; found {', '.join(frame.columns)}"
            raise ValueError(message)
    return found


def hours(given: Sequence[float] | float, option: str) -> list[float]:
    """Hours of age in order, each once. Raises ValueError for what is no number, negative, or no lifetime."""
    found = [given] if isinstance(given, (int, float)) else list(given)
    if not all(isinstance(value, (int, float)) and (value == 0 or SHORTEST_H <= value <= LONGEST_H) for value in found):
        message = f"{option} {given!r}: give hours, 0 or from {SHORTEST_H:g} to {LONGEST_H:g}"
        raise ValueError(message)
    return sorted({float(value) for value in found})


def per_group(
    lifetimes: pl.DataFrame, by: Names, taken: Sequence[str], rows_of: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """The rows of each group of `by`, in order of the group, the labels in front; no rows where a table by groups is empty.

    `taken`: names of result columns beside RESULT. Raises ValueError for what `check` refuses, and labels that are taken.
    """
    lifetimes = check(lifetimes, "lifetimes")
    outside = ~lifetimes["exit_h"].is_between(SHORTEST_H, LONGEST_H)
    if outside.any():
        row = outside.arg_max() or 0
        message = f"column 'exit_h', row {row + 1}: {lifetimes['exit_h'][row]!r}; give hours from {SHORTEST_H:g} to {LONGEST_H:g}"
        raise ValueError(message)
    keys = columns(lifetimes, by, "by")
    refuse_taken(keys, taken)
    if not keys:
        return rows_of(lifetimes)
    groups = lifetimes.sort(keys, maintain_order=True).partition_by(keys, maintain_order=True)
    if not groups:
        return _named(rows_of(lifetimes).clear(), lifetimes, keys)
    return pl.concat(_named(rows_of(group), group, keys) for group in groups)


def _named(rows: pl.DataFrame, group: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    labels = [pl.lit(None if group.is_empty() else group[key][0], group[key].dtype).alias(key) for key in keys]
    return rows.select(*labels, pl.all())


def results(rows: Sequence[Mapping[str, Any]], front: Mapping[str, Any], own: Mapping[str, Any]) -> pl.DataFrame:
    """Rows as a frame: `front`, RESULT, `own`; what a row does not say is null."""
    schema = {**front, **RESULT, **own}
    return arrange(pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema), list(front), own)


def totals(group: pl.DataFrame) -> dict[str, Any]:
    """Failures and unit-hours of a group, as result columns."""
    return {"events": int(group["event"].sum()), "exposure_h": float((group["exit_h"] - group["entry_h"]).sum())}


def wrong(group: pl.DataFrame, *, repairs: bool = False, ages: bool = True) -> str | None:
    """Why a group has no estimate; null where it has one.

    `repairs`: a unit may fail and go on. `ages`: hours are ages, so that unknown ones refuse.
    """
    if group.is_empty():
        return "no_units"
    if ages and not ages_known(group).all():
        return "age_unknown"
    if not group["event"].any():
        return "no_failures"
    before = pl.col("event").cast(pl.Int64).cum_sum().over("unit") - pl.col("event").cast(pl.Int64)
    spells = group.sort("unit", "entry_h", "exit_h").select(
        overlapping_intervals=(pl.col("entry_h") < pl.col("exit_h").cum_max().shift().over("unit")).any(),
        several_failures_per_unit=(pl.col("event") & (before > 0)).any(),
        goes_on_after_failure=(before > 0).any(),
    )
    allowed = {"several_failures_per_unit", "goes_on_after_failure"} if repairs else set[str]()
    return next((name for name in spells.columns if spells[name][0] and name not in allowed), None)


def ages_known(group: pl.DataFrame) -> pl.Series:
    """Rows whose entry_h is an age, by the column `age_known`; all where there is none."""
    if AGE_KNOWN not in group.columns:
        return pl.repeat(value=True, n=len(group), dtype=pl.Boolean, eager=True)
    return group[AGE_KNOWN].cast(pl.String).str.to_lowercase().is_in(["true", "1", "1.0"]).fill_null(value=False)


def emptied_at(entry: Floats, exit_: Floats) -> float:
    """The hour at which all who entered so far have left while others enter later; else the last exit."""
    order = np.argsort(entry, kind="stable")
    left = np.maximum.accumulate(exit_[order])
    gaps = np.flatnonzero(entry[order][1:] > left[:-1])
    return float(left[gaps[0]] if len(gaps) else left[-1])


def at_risk(entry: Floats, exit_: Floats, times: Floats) -> npt.NDArray[np.int64]:
    """Rows with entry < time <= exit, for each time."""
    return np.searchsorted(np.sort(entry), times) - np.searchsorted(np.sort(exit_), times)


def design(group: pl.DataFrame, names: Sequence[str]) -> dict[str, Floats]:
    """Covariates as columns of numbers, by term; text becomes 0/1 columns against the value that failed most often.

    Raises ValueError naming the column: a value that is missing, not finite or above LARGEST, more than MOST_VALUES words.
    """
    found: dict[str, Floats] = {}
    for name in names:
        numbers = group[name].cast(pl.Float64, strict=False)
        missing = group[name].is_null() | ~(numbers.abs() <= LARGEST).fill_null(value=True)
        if missing.any():
            message = (
                f"column {name!r}, row {(missing.arg_max() or 0) + 1} of its group: {group[name].filter(missing)[0]!r}; drop it"
            )
            raise ValueError(message)
        if not numbers.null_count():
            found[name] = numbers.to_numpy()
            continue
        words = group[name].cast(pl.String)
        named = pl.DataFrame({"word": words, "event": group["event"]}).group_by("word").agg(pl.col("event").sum())
        if len(named) > MOST_VALUES:
            message = f"column {name!r}: {len(named)} values are no covariate; group or stratify by it"
            raise ValueError(message)
        first, *others = named.sort(["event", "word"], descending=[True, False])["word"]
        for word in sorted(others):
            found[f"{name}={word} against {first}"] = (words == word).to_numpy().astype(np.float64)
    return found
