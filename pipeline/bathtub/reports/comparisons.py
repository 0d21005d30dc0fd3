"""comparisons.csv: rates of vendors, lots, parts, firmware, racks, slots and hosts against each other.

Asked for each component that failed and each dimension of which two values or more are known. What is not known of a
device or a failure is left out, and counted. `ranking` shrinks the rates of hosts towards the fleet's.
"""

from collections.abc import Iterator, Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, fitted, joined, stamped

COMPARED = ("vendor", "lot", "part_number", "model", "firmware", "rack", "slot", "host")
RANKED = ("host",)
_GROUP = ("population", "component", "exposure_kind", "dimension")
_COLUMNS = (
    ("population", "cluster"),
    ("component", "part that failed"),
    ("exposure_kind", "in_service, allocated, observed"),
    ("dimension", "what is compared"),
    ("model", "rate-ratio, ranking"),
    ("label", "value of the dimension; null where the row is about all of them"),
    ("reference", "value that it is compared with; null: all others"),
    *NUMBERS,
    ("upper_bound", "one-sided upper bound of the ratio"),
    ("tested_against", "what p_value is of: equal rates, or their spread within or between groups"),
    ("dispersion", "spread of cells within groups over Poisson's; null where groups are one cell each"),
    ("theta", "size of the negative binomial that the values spread by; null: not wider than Poisson, or not asked"),
    ("rank", "of the shrunk rate, 1 the highest"),
    ("raw_rate_per_h", "failures over device-hours, not shrunk"),
    ("is_lemon", "beyond the usual spread, with a q_value of at most 0.05"),
    ("p_value", "of no difference"),
    ("q_value", "the same after Benjamini and Hochberg, over the family that the model states"),
    ("failures_of_unknown_label", "failures whose value is not known: left out"),
    ("exposure_h_of_unknown_label", "device-hours whose value is not known: left out"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    cells = marts["exposure_cells"].filter(pl.col("dimension").is_in(COMPARED) & pl.col("is_readable"))
    parts = [
        part
        for key, group in cells.group_by(_GROUP, maintain_order=True)
        for part in _group(dict(zip(_GROUP, key, strict=True)), group, context.level)
    ]
    return stamped(joined(parts), context)


def _group(key: Mapping[str, object], cells: pl.DataFrame, level: float) -> Iterator[pl.DataFrame]:
    """The rows of one dimension of one component."""
    known, unknown = cells.filter(pl.col("label").is_not_null()), cells.filter(pl.col("label").is_null())
    if known.height <= 1 or not known["failures"].sum():
        return
    left_out = {
        "failures_of_unknown_label": unknown["failures"].sum(),
        "exposure_h_of_unknown_label": unknown["exposure_h"].sum(),
    }
    table = known.select("label", "failures", "exposure_h")
    for name in ("rate-ratio", *(["ranking"] if key["dimension"] in RANKED else [])):
        yield from fitted(name, table, level, {**key, **left_out})


REPORT = ReportModel("comparisons", ("exposure_cells",), _COLUMNS, _rows)
