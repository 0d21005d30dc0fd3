"""Failure rate of each group over that of all others, or of one reference: exact limits, overdispersion first, false discoveries.

Given n = r1 + r2 failures in T1 and T2 device-hours, r1 is binomial with p = R T1/(R T1 + T2) where R is the ratio of rates.
Limits: Clopper and Pearson's of p, turned into R; p_value: the exact test of R = 1 (outcomes that are at most as likely). Groups
are the values of the columns `compare` (all labels unless named); cells of one group are added up.

Overdispersion is asked first. `tested_against` says what followed:

| tested_against | when | what |
|---|---|---|
| equal_rates | no sign of it (p above 0.2), or nothing to see it by | exact, as above |
| spread_within_groups | groups of several cells (nodes of a vendor) that differ by more than chance | counts over phi, below |
| spread_between_groups | ten groups or more of one cell each (racks, hosts) against all others | tails of a spread, below |

Within groups: counts over phi = dispersion, allowing for its degrees of freedom (Korn & Graubard 1998), in the same formulas.
Between groups: p_value asks whether the group is beyond the usual spread, by the tails of a negative binomial over all groups;
limits stay exact: they are those of this group as it is.

q_value: Benjamini and Hochberg over all rows of the table, one family. A group without failures: ratio 0, and a bound above.
min_detectable_ratio: (1 + z/2 sqrt(phi (1/m1 + 1/m2) + 1/theta))^2, z = 2.80, m the counts expected at equal rates.

Refused (reason): no_exposure, exposure_unknown, failures_unknown (of the group, which then is no part of the others either),
no_failures (of both), no_failures_in_reference (the lower limit stands), no_reference, one_group.

Assumes independent failures and constant rates. References: Clopper & Pearson 1934; Przyborowski & Wilenski 1940; Benjamini &
Hochberg 1995; Gu et al. 2008, Biometrical Journal 50: 283.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from bathtub.survival import Model, arrange, check, confidence, labels
from bathtub.survival._cells import rate_reasons, summed
from bathtub.survival._glm import DOUBTED, Cells, negative_binomial, poisson
from bathtub.survival._groups import POWER_Z, Names, columns
from bathtub.survival._spread import dispersion, q_values

Floats = npt.NDArray[np.float64]

OWN = {
    "reference": pl.String(),
    "reference_events": pl.Int64(),
    "reference_exposure_h": pl.Float64(),
    "upper_bound": pl.Float64(),
    "p_value": pl.Float64(),
    "q_value": pl.Float64(),
    "tested_against": pl.String(),
    "dispersion": pl.Float64(),
    "dispersion_p": pl.Float64(),
    "theta": pl.Float64(),
    "n_cells": pl.Int64(),
}
FEWEST_GROUPS = 10  # below it the spread of groups cannot be told from what sets one apart
ASSUMPTIONS = "independent failures; constant rates"


@dataclass(frozen=True)
class Spread:
    """What is allowed for: phi of counts with its degrees of freedom, or the negative binomial that the groups follow."""

    tested_against: str = "equal_rates"
    phi: float = 1.0
    phi_p: float = math.nan
    n_free: int = 0
    theta: float = math.inf
    rate: float = math.nan

    @property
    def told(self) -> dict[str, object]:
        """As result columns."""
        return {
            "tested_against": self.tested_against,
            "dispersion": self.phi if self.n_free else None,
            "dispersion_p": self.phi_p,
            "theta": self.theta if math.isfinite(self.theta) else None,
        }

    @property
    def is_within(self) -> bool:
        """Counts are divided by phi."""
        return self.tested_against == "spread_within_groups"

    def over(self, counts: Floats, level: float) -> Floats:
        """Counts as if Poisson."""
        from scipy.stats import t

        if not self.is_within:
            return counts
        p = (1 + level) / 2
        return counts / self.phi * (NormalDist().inv_cdf(p) / float(t.ppf(p, self.n_free))) ** 2


def rate_ratio(
    cells: pl.DataFrame, level: float = 0.95, compare: Names = (), by: Names = (), reference: str | None = None
) -> pl.DataFrame:
    """One row per group, in order of appearance: `by`, `compare`, RESULT (quantity rate_ratio), own columns (see the module).

    `cells`: failures, exposure_h, labels. `by`: labels within whose values groups are compared. `reference`: a value of the one
    compared column, which then has no row; else each group is compared with all others. Raises ValueError for what `check`
    refuses, columns that are not there, nothing to compare, and a reference that no cell has.
    """
    level, cells = confidence(level), check(cells, "cells")
    names, parts = labels(cells, tuple(OWN)), columns(cells, by, "by")
    groups = columns(cells, compare, "compare") or [name for name in names if name not in parts]
    _refuse(cells, groups, reference)
    whole = cells.partition_by(parts, maintain_order=True) if parts and len(cells) else [cells]
    found = pl.concat(_compared(part, [*parts, *groups], groups, reference, level) for part in whole)
    found = found.with_columns(
        pl.Series("q_value", q_values(found["p_value"].fill_null(math.nan).to_numpy())),
        quantity=pl.lit("rate_ratio"),
        confidence_level=pl.lit(level),
        assumptions=pl.lit(f"{ASSUMPTIONS}; q: over the {found['p_value'].is_not_nan().sum()} tests of the table"),
    )
    return arrange(found, [*parts, *groups], OWN)


def _refuse(cells: pl.DataFrame, groups: Sequence[str], reference: str | None) -> None:
    """Raises ValueError for a question without an answer."""
    if not groups:
        message = f"nothing to compare: give a label; found {', '.join(cells.columns)}"
        raise ValueError(message)
    if reference is None:
        return
    if len(groups) > 1:
        message = f"reference {reference!r}: name the one column that it is a value of, in the option compare"
        raise ValueError(message)
    if len(cells) and not (cells[groups[0]].cast(pl.String) == reference).any():
        message = f"reference {reference!r}: no such value in column {groups[0]!r}"
        raise ValueError(message)


def _compared(cells: pl.DataFrame, front: list[str], groups: list[str], reference: str | None, level: float) -> pl.DataFrame:
    """The rows of one part of the table."""
    table = summed(cells, front)
    reasons = rate_reasons(table["failures"], table["exposure_h"])
    known = np.array([reason is None for reason in reasons], dtype=bool)
    own = [np.where(known, table[name].fill_null(0.0).to_numpy(), 0.0) for name in ("failures", "exposure_h")]
    is_named = pl.col(groups[0]).cast(pl.String) == pl.lit(reference, pl.String)
    is_reference = table.select(is_named.fill_null(value=False))[:, 0].to_numpy()
    others = [values.sum() - values for values in own]
    if reference is not None:
        others = [np.full(len(table), values[is_reference].sum()) for values in own]
    spread = _spread(cells, table, front, known, has_reference=reference is not None)
    figures = _figures(np.array([*own, *others]), spread, level)
    absent = "no_reference" if reference is not None else "one_group"
    words = [
        reason or _reason(count, failures, hours, absent)
        for reason, count, failures, hours in zip(reasons, own[0], *others, strict=True)
    ]
    stands = np.array([word in (None, "no_failures_in_reference") for word in words], dtype=bool)
    rows = table.with_columns(
        events="failures",
        reference=pl.lit(reference, pl.String),
        reference_events=pl.Series(others[0], dtype=pl.Float64),
        reference_exposure_h=pl.Series(others[1], dtype=pl.Float64),
        reason=pl.Series(words, dtype=pl.String),
        **{name: pl.lit(value, OWN[name]) for name, value in spread.told.items()},
        method=pl.lit("exact, of counts over their dispersion" if spread.is_within else "exact"),
        **{name: pl.Series(np.where(stands, values, math.nan), dtype=pl.Float64) for name, values in figures.items()},
    )
    return rows.filter(pl.Series(~is_reference, dtype=pl.Boolean))


def _reason(count: float, others: float, other_hours: float, absent: str) -> str | None:
    """Why a group that has a rate has no ratio; null where it has one."""
    if not other_hours:
        return absent
    if not others:
        return "no_failures_in_reference" if count else "no_failures"
    return None


def _spread(
    cells: pl.DataFrame, table: pl.DataFrame, front: list[str], known: npt.NDArray[np.bool_], *, has_reference: bool
) -> Spread:
    """What the cells, or the groups, say of overdispersion."""
    numbered = table.select(*front, pl.Series("group", np.where(known, np.cumsum(known) - 1, -1)))
    used = cells.join(numbered, on=front, how="left", nulls_equal=True).filter(
        (pl.col("group") >= 0) & (pl.col("exposure_h") > 0)
    )
    if used.is_empty() or not used["failures"].sum():
        return Spread()
    phi, p, n_free = dispersion(used["failures"].to_numpy(), used["exposure_h"].to_numpy(), used["group"].to_numpy())
    if n_free:
        wide = phi > 1 and p < DOUBTED
        return Spread("spread_within_groups" if wide else "equal_rates", max(phi, 1.0) if wide else phi, p, n_free)
    if has_reference or len(used) < FEWEST_GROUPS or (table["n_cells"] > 1).any():
        return Spread()
    alike = Cells(np.ones((len(used), 1)), used["failures"].to_numpy(), used["exposure_h"].to_numpy())
    plain = poisson(alike)
    wider = plain if isinstance(plain, str) else negative_binomial(alike, plain)
    if isinstance(wider, str) or wider.theta is None:
        return Spread()
    return Spread("spread_between_groups", theta=wider.theta, rate=math.exp(wider.coefficients[0]))


def _figures(table: Floats, spread: Spread, level: float) -> dict[str, Floats]:
    """Numbers of the rows by column; table: failures and hours of the groups, then of what they are compared with."""
    counts, hours, others, other_hours = table
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what is not finite is told by its reason
        scale = other_hours / hours
        few, many = (spread.over(values, level) for values in (counts, others))
        expected = [(counts + others) * share for share in (hours / (hours + other_hours), other_hours / (hours + other_hours))]
        phi = spread.phi if spread.is_within else 1.0
        error = np.sqrt(phi * (1 / expected[0] + 1 / expected[1]) + 1 / spread.theta)
        found = {
            "estimate": counts / others * scale,
            "low": _lower(few, many, (1 - level) / 2) * scale,
            "high": 1 / _lower(many, few, (1 - level) / 2) * scale,
            "upper_bound": 1 / _lower(many, few, 1 - level) * scale,
            "min_detectable_ratio": (1 + POWER_Z / 2 * error) ** 2,
            "p_value": _p_values(table, (few, many), spread),
        }
    return {name: np.where(np.isfinite(values), values, math.nan) for name, values in found.items()}


def _lower(counts: Floats, others: Floats, tail: float) -> Floats:
    """Lower limit of the odds that a failure is of the group; 0 without failures of it."""
    from scipy.special import betaincinv

    p = np.where(counts > 0, betaincinv(np.maximum(counts, 1e-300), others + 1, tail), 0.0)
    return np.asarray(p / (1 - p), dtype=np.float64)


def _p_values(table: Floats, pair: Sequence[Floats], spread: Spread) -> Floats:
    """How likely no difference is, by what is allowed for; NaN where there is nothing to test."""
    from scipy.stats import binomtest, nbinom

    counts, hours, others, other_hours = table
    share = hours / (hours + other_hours)
    told = (hours > 0) & (other_hours > 0) & (counts + others > 0)
    if spread.tested_against == "equal_rates":
        exact = [
            binomtest(int(r), int(r + s), float(q)).pvalue if tell else math.nan
            for r, s, q, tell in zip(counts, others, share, told, strict=True)
        ]
        return np.array(exact, dtype=np.float64)
    if spread.is_within:
        above, below = _tail(pair[0], pair[1], share), _tail(pair[1], pair[0], 1 - share)
    else:
        p = spread.theta / (spread.theta + spread.rate * hours)
        above, below = nbinom.sf(counts - 1, spread.theta, p), nbinom.cdf(counts, spread.theta, p)
    return np.where(told, np.minimum(2 * np.minimum(above, below), 1.0), math.nan)


def _tail(counts: Floats, others: Floats, share: Floats) -> Floats:
    """Chance of so many or more of all counts, which need not be whole, where each falls here by `share`."""
    from scipy.special import betainc

    return np.where(counts > 0, betainc(np.maximum(counts, 1e-300), others + 1, share), 1.0)


MODEL = Model("rate-ratio", "cells", rate_ratio, "rates of groups against each other: exact limits, spread, false discoveries")
