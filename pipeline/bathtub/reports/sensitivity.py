"""sensitivity.csv: every rate under other choices: the exposure, the gap between bursts, the rules.

A rate that moves with a choice rests on it. The other choices are judged anew from the lake by the same SQL.
"""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, rates, stamped

CONFIGURED = "as configured"
_KEYS = ("population", "component", "exposure_kind", "variant")
_COLUMNS = (
    ("population", "cluster"),
    ("component", "part that failed"),
    ("exposure_kind", "in_service, allocated, observed"),
    ("variant", "what is otherwise than configured; `as configured` as in reliability.csv"),
    *NUMBERS,
    ("lower_bound", "one-sided lower bound of the MTBF"),
    ("rate_to_configured_ratio", "rate over that of `as configured`, same exposure; null where one has no estimate"),
    ("rate_to_in_service_ratio", "rate over that in service, same variant; null where one has no estimate"),
    *RUN,
)


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    configured = marts["reliability_cells"].with_columns(variant=pl.lit(CONFIGURED))
    cells = pl.concat([configured, marts["rate_variants"]], how="diagonal_relaxed")
    found = rates(cells, _KEYS, context.level)
    mtbf = pl.col("estimate")
    same_exposure, same_variant = ("population", "component", "exposure_kind"), ("population", "component", "variant")
    found = found.with_columns(
        rate_to_configured_ratio=mtbf.filter(pl.col("variant") == CONFIGURED).first().over(same_exposure) / mtbf,
        rate_to_in_service_ratio=mtbf.filter(pl.col("exposure_kind") == "in_service").first().over(same_variant) / mtbf,
    )
    return stamped(found.sort("population", "component", "exposure_kind", maintain_order=True), context)


REPORT = ReportModel("sensitivity", ("reliability_cells", "rate_variants"), _COLUMNS, _rows)
