"""What models of effects over cells share: what is wrong with a table, its labels as numbers, words and hours of the day."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import check, refuse_taken
from bathtub.survival._glm import Cells
from bathtub.survival._groups import MOST_VALUES, Names, columns

Floats = npt.NDArray[np.float64]

HOURS_PER_DAY = 24


def summed(cells: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Failures, exposure_h and n_cells of each group, in order of appearance; null where a part is null."""
    totals = [pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in ("failures", "exposure_h")]
    return cells.group_by(by, maintain_order=True).agg(*totals, n_cells=pl.len())


def wrong(cells: pl.DataFrame) -> str | None:
    """Why no effect can be estimated from a checked table; null where one may be."""
    failures, hours = cells["failures"], cells["exposure_h"]
    if cells.is_empty():
        return "no_cells"
    if hours.null_count():
        return "exposure_unknown"
    if not hours.sum():
        return "no_exposure"
    if failures.null_count():
        return "failures_unknown"
    if cells.filter((pl.col("exposure_h") == 0) & (pl.col("failures") > 0)).height:
        return "failures_without_exposure"
    return None if failures.sum() else "no_failures"


def rate_reasons(failures: pl.Series, hours: pl.Series) -> list[str | None]:
    """Why each of some rates cannot be told; null where it can, be it without failures."""
    return [
        "exposure_unknown" if hour is None else "no_exposure" if hour == 0 else "failures_unknown" if count is None else None
        for count, hour in zip(failures, hours, strict=True)
    ]


def totals(cells: pl.DataFrame) -> dict[str, Any]:
    """Failures and device-hours of a table, as result columns."""
    known = summed(cells.with_columns(all=pl.lit(1)), ["all"]).rows(named=True)
    found = known[0] if known else {"failures": 0, "exposure_h": 0.0}
    return {"events": found["failures"], "exposure_h": found["exposure_h"]}


def numbers(cells: pl.DataFrame, column: str, least: float = -math.inf, most: float = math.inf) -> Floats:
    """A label as numbers. Raises ValueError where the column is missing, or a value is missing, no finite number, or outside."""
    columns(cells, column, "column")
    found = cells[column].cast(pl.Float64, strict=False)
    unread = ~found.is_finite().fill_null(value=False)
    if unread.any():
        row = unread.arg_max() or 0
        message = (
            f"column {column!r}, row {row + 1}: {cells[column][row]!r}; leave out the cells where it is not known, and count them"
        )
        raise ValueError(message)
    outside = ~found.is_between(least, most)
    if outside.any():
        row = outside.arg_max() or 0
        message = f"column {column!r}, row {row + 1}: {found[row]:g}; give a number from {least:g} to {most:g}"
        raise ValueError(message)
    return found.to_numpy()


def flags(cells: pl.DataFrame, column: str) -> Floats:
    """A label of true and false as 1 and 0. Raises ValueError for anything else."""
    words = cells[column].cast(pl.String).str.to_lowercase()
    found = words.replace_strict(
        {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}, default=None, return_dtype=pl.Float64
    )
    if found.null_count():
        row = found.is_null().arg_max() or 0
        message = f"column {column!r}, row {row + 1}: {cells[column][row]!r}; give true or false"
        raise ValueError(message)
    return found.to_numpy()


def harmonics(cells: pl.DataFrame, column: str, n_harmonics: int) -> dict[str, Floats]:
    """Cos and sin of the middle of the hour, once to n_harmonics times a day. Raises ValueError for other hours than 0 to 23."""
    hour = numbers(cells, column)
    unread = (hour != np.floor(hour)) | (hour < 0) | (hour >= HOURS_PER_DAY)
    if unread.any():
        row = int(unread.argmax())
        message = f"column {column!r}, row {row + 1}: {cells[column][row]!r}; give the hour of the day, 0 to 23"
        raise ValueError(message)
    angle = 2 * math.pi * (hour + 0.5) / HOURS_PER_DAY
    return {
        f"{name} {HOURS_PER_DAY // k} h": wave(k * angle)
        for k in range(1, n_harmonics + 1)
        for name, wave in (("cos", np.cos), ("sin", np.sin))
    }


@dataclass(frozen=True)
class Words:
    """Columns 0/1 of the words of labels, the cells that tell something beside them, and what was left out."""

    columns: Mapping[str, Floats]
    kept: npt.NDArray[np.bool_]
    told: str


def words(cells: pl.DataFrame, names: Sequence[str]) -> Words:
    """Each word of the labels against the one that failed most often; unknown is a word.

    Cells of a word without failures are left out: its rate goes to 0, and in that limit they tell nothing of other effects.
    Raises ValueError for a label of more than MOST_VALUES words.
    """
    found, kept, silent = dict[str, Floats](), np.ones(len(cells), dtype=bool), list[str]()
    for name in names:
        values = cells[name].cast(pl.String).fill_null("unknown")
        counted = pl.DataFrame({"word": values, "failures": cells["failures"]}).group_by("word").agg(pl.col("failures").sum())
        if len(counted) > MOST_VALUES:
            message = f"column {name!r}: {len(counted)} values are no term; say which labels are, in the option terms"
            raise ValueError(message)
        for word, failures in sorted(counted.sort(["failures", "word"], descending=[True, False]).rows()[1:]):
            mark = (values == word).to_numpy()
            if failures:
                found[f"{name}={word}"] = mark.astype(np.float64)
            else:
                kept &= ~mark
                silent.append(f"{name}={word}")
    return Words(found, kept, f"; left out, without failures: {', '.join(silent)}" if silent else "")


def asked(cells: pl.DataFrame, taken: Sequence[str], own: Sequence[str], terms: Names) -> tuple[pl.DataFrame, list[str]]:
    """The checked table, and the labels that are terms: those named, else every label but those `own` to the model.

    Raises ValueError for what `check` refuses, labels named like a result, and terms that are no columns.
    """
    cells = check(cells, "cells")
    labels = [name for name in cells.columns if name not in ("failures", "exposure_h")]
    refuse_taken(labels, taken)
    return cells, columns(cells, terms, "terms") or [name for name in labels if name not in own]


def design(
    cells: pl.DataFrame, kept: npt.NDArray[np.bool_], effect: Mapping[str, Floats], beside: Mapping[str, Floats]
) -> Cells | str:
    """The kept cells: ones, the columns of the effect, then those beside it that vary; or why there is nothing to fit.

    constant_covariate, more_terms_than_failures.
    """
    used = kept & (cells["exposure_h"].to_numpy() > 0)
    if any(np.ptp(x[used]) == 0 for x in effect.values()):
        return "constant_covariate"
    varying = [x[used] for x in beside.values() if np.ptp(x[used]) > 0]
    x = np.column_stack([np.ones(int(used.sum())), *(x[used] for x in effect.values()), *varying])
    found = Cells(x, cells["failures"].to_numpy()[used], cells["exposure_h"].to_numpy()[used])
    return "more_terms_than_failures" if x.shape[1] - 1 > found.counts.sum() else found
