"""cluster_mtbf.csv: failures per instance-hour, and how long a job on so many instances runs between failures.

Of N independent alike instances in series one fails N times as often: MTBF and its limits are those of one over N.
"""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel
from bathtub.reports._estimates import NUMBERS, RUN, stamped

SIZES = (1, 8, 64, 256, 512, 1024, 2048)
SCOPES = {"all": (), "without software and unknown": ("software", "unknown")}
_COLUMNS = (
    ("population", "cluster"),
    ("exposure_kind", "in_service, allocated, observed: of nodes"),
    ("scope", "failures that count: all, or all but those of components software and unknown"),
    ("n_instances", "instances (nodes) that must all work; 1 is the rate of one, the cluster's own number stands among them"),
    *NUMBERS,
    ("lower_bound", "one-sided lower bound of the MTBF"),
    ("failures_per_instance_h", "events over instance-hours"),
    ("failures_per_instance_h_low", "exact lower limit"),
    ("failures_per_instance_h_high", "exact upper limit"),
    *RUN,
)
_KEYS = ("population", "exposure_kind", "scope", "n_instances")


def _instances(cells: pl.DataFrame) -> pl.DataFrame:
    """Instance-hours and number of instances per population and kind of exposure: those of components of whole nodes."""
    nodes = cells.filter(pl.col("exposure_class") == "node")
    return nodes.group_by("population", "exposure_kind", maintain_order=True).agg(
        pl.col("exposure_h").max(), own=pl.col("n_devices").max()
    )


def _sizes(instances: pl.DataFrame) -> pl.DataFrame:
    """One row per population, kind of exposure and size."""
    known = instances.filter(pl.col("own").is_not_null()).select("population", "exposure_kind", n_instances=pl.col("own"))
    given = instances.select("population", "exposure_kind").join(
        pl.DataFrame({"n_instances": SIZES}, schema={"n_instances": pl.Int64}), how="cross"
    )
    return pl.concat([given, known.cast({"n_instances": pl.Int64})]).unique().sort("population", "exposure_kind", "n_instances")


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    from bathtub.survival.mtbf import mtbf

    cells = marts["reliability_cells"]
    failed = pl.concat(
        cells.group_by("population", "exposure_kind", maintain_order=True).agg(
            pl.col("failures").filter(~pl.col("component").is_in(left_out)).sum(), scope=pl.lit(scope)
        )
        for scope, left_out in SCOPES.items()
    )
    instances = _instances(cells)
    sized = failed.join(instances, on=["population", "exposure_kind"]).join(_sizes(instances), on=["population", "exposure_kind"])
    sized = sized.sort(_KEYS)
    size = pl.col("n_instances")
    found = mtbf(sized.select(*_KEYS, "failures", exposure_h=pl.col("exposure_h") / size), level=context.level)
    found = found.with_columns(exposure_h=sized["exposure_h"]).with_columns(
        failures_per_instance_h=pl.col("events") / pl.col("exposure_h"),
        failures_per_instance_h_low=pl.when(pl.col("events") == 0).then(0.0).otherwise(1 / (pl.col("high") * size)),
        failures_per_instance_h_high=1 / (pl.col("low") * size),
        assumptions=pl.col("assumptions") + "; instances in series",
    )
    return stamped(found, context)


REPORT = ReportModel("cluster_mtbf", ("reliability_cells",), _COLUMNS, _rows)
