"""reliability.csv: MTBF per population, component and kind of exposure, with exact limits."""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel

_COLUMNS = (
    ("population", "cluster"),
    ("component", "part that failed"),
    ("window_start_at", "start of the window, UTC"),
    ("window_end_at", "end of the window, UTC, exclusive"),
    ("n_devices", "devices in service or observed; null for allocated exposure"),
    ("exposure_kind", "in_service (inventory), allocated (jobs), observed (node-days with logs)"),
    ("device_hours", "exposure, device-hours; of GPUs for GPU components, software and unknown, else of nodes or cards"),
    ("failures", "incidents that count as failures and are not planned"),
    ("mtbf_h", "device_hours / failures; null where there was none"),
    ("mtbf_h_low", "exact lower limit"),
    ("mtbf_h_high", "exact upper limit; null where there was no failure"),
    ("mtbf_h_lower_bound", "one-sided lower bound; the only figure where there was no failure"),
    ("confidence_level", "of the limits and of the bound"),
    ("method", "of the limits"),
    ("truncation", "time: the window ends at a date"),
    ("dispersion", "null until overdispersion is estimated"),
    ("fit_60", "failures per 1e9 device-hours, one-sided upper limit at 60 % (JESD85, acceleration factor 1)"),
    ("fit_90", "the same at 90 %"),
    ("afr", "annual failure rate, 1 - exp(-8760 rate)"),
    ("mttr_h", "null until recovery is measured"),
    ("n_censored", "null until lifetimes are estimated"),
    ("min_detectable_ratio", "smallest rate ratio to an equal exposure that would be found (80 % power, 5 % two-sided)"),
    ("knowledge_version", "hash of the knowledge tables in force"),
    ("burst_gap_s", "gap that ends a burst of lines"),
    ("temperature_c", "null until telemetry is read"),
    ("assumptions", "what the figures assume"),
    ("reason", "why a figure is absent: a stable word"),
    ("failures_elsewhere", "failures of the component outside this exposure; not in the figures"),
)


ASSUMED = {
    "in_service": "; devices without in_service_at were in service for the whole window",
    "allocated": "; attempts without a GPU count add neither hours nor failures",
    "observed": "; a node-day with any log is observed whole",
}


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    """The cells of the mart with what the model makes of them, in the mart's order."""
    from bathtub.survival.mtbf import mtbf

    cells = marts["reliability_cells"]
    key = ["population", "component", "exposure_kind"]
    readable = pl.when("is_readable").then("exposure_h")  # without a source that could show it, no hours stand behind it
    fitted = mtbf(cells.select(*key, "failures", exposure_h=readable), level=context.level)
    renamed = fitted.rename(
        {"estimate": "mtbf_h", "low": "mtbf_h_low", "high": "mtbf_h_high", "lower_bound": "mtbf_h_lower_bound"}
    )
    names = [*key, "window_start_at", "window_end_at", "n_devices", "failures", "failures_elsewhere", "is_readable"]
    beside = cells.select(*names, pl.col("exposure_h").alias("device_hours"))
    joined = beside.join(renamed.drop("exposure_h"), on=key, how="left", maintain_order="left")
    return joined.with_columns(
        knowledge_version=pl.lit(context.knowledge_version),
        burst_gap_s=pl.lit(context.burst_gap_s),
        assumptions=pl.col("assumptions") + pl.col("exposure_kind").replace_strict(ASSUMED),
        reason=pl.when(pl.col("device_hours").is_null())
        .then(pl.lit("no_exposure"))
        .when(~pl.col("is_readable"))
        .then(pl.lit("no_source_read"))
        .otherwise("reason"),
    )


REPORT = ReportModel("reliability", ("reliability_cells",), _COLUMNS, _rows)
