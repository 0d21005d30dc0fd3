"""rma_candidates.csv: one row per device that failed, for its vendor.

Identity, incidents and evidence are filled. Counters, diagnostics and criteria are empty until telemetry and
diagnostics are read: empty says not measured, never zero.
"""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel

_NOT_YET = "empty until its source is read"
_COLUMNS = (
    ("report_id", "hash of cluster, window, knowledge version and live sources"),
    ("window_start_at", "start of the window, UTC"),
    ("window_end_at", "end of the window, UTC, exclusive"),
    ("cluster", "cluster"),
    ("site", _NOT_YET),
    ("rack", "rack, from the inventory"),
    ("chassis_serial", _NOT_YET),
    ("system_vendor", _NOT_YET),
    ("system_model", _NOT_YET),
    ("system_serial", _NOT_YET),
    ("node", "node of the last failure"),
    ("slot", "slot, from the inventory"),
    ("pci_bdf", "PCI domain:bus:device of the last failure"),
    ("device_class", "gpu"),
    ("device_model", "model, from the inventory"),
    ("device_serial", "serial as text, leading zeros kept; empty where no inventory names it"),
    ("device_part_number", "part number, from the inventory"),
    ("device_uuid", "UUID, from the inventory"),
    ("vbios_version", _NOT_YET),
    ("inforom_version", _NOT_YET),
    ("driver_version", _NOT_YET),
    ("firmware_versions", "firmware, from the inventory"),
    ("in_service_at", "put into service, from the inventory, UTC"),
    ("device_hours", _NOT_YET),
    ("first_event_at", "first failure in the window, UTC"),
    ("last_event_at", "last failure in the window, UTC"),
    ("incidents_attributed", "failures attributed to it in the window"),
    ("jobs_interrupted", "attempts that these ended"),
    ("gpu_hours_lost", _NOT_YET),
    ("xid_counts", "bursts by Xid in these incidents, JSON"),
    *((name, _NOT_YET) for name in (
        "sxid_counts", "ecc_dram_ce", "ecc_dram_ue", "ecc_sram_ce", "ecc_sram_ue_parity", "ecc_sram_ue_secded",
        "sram_threshold_exceeded", "rows_remapped_ce", "rows_remapped_ue", "row_remap_pending", "row_remap_failure",
        "remap_histogram", "nvlink_errors", "pcie_replays", "thermal_slowdown_s", "temperature_p50_c", "temperature_p99_c",
        "actions_taken", "swap_test_result", "diag_level", "diag_result", "fielddiag_result", "fielddiag_version",
        "bug_report_ref", "bug_report_sha256", "criterion_met", "criterion_version",
    )),
    ("root_cause", "component of the best supported of its incidents"),
    ("confidence", "of that verdict: high, medium, low"),
    ("alternatives", "other components that a rule would have named, `;` between"),
    ("evidence_refs", "source_id:line of the evidence, up to 24, `;` between"),
    ("missing_evidence", "what a case still needs, `;` between"),
    ("rma_number", _NOT_YET),
    ("warranty_end", _NOT_YET),
)  # fmt: skip
_MISSING = "field diagnostic;bug report;row-remap counters"


def _rows(marts: Mapping[str, pl.DataFrame], context: Context) -> pl.DataFrame:
    no_serial = pl.when(pl.col("device_serial").is_null()).then(pl.lit(";serial number")).otherwise(pl.lit(""))
    return marts["rma_candidates"].with_columns(
        report_id=pl.lit(context.report_id),
        window_start_at=pl.lit(context.window_start_at),
        window_end_at=pl.lit(context.window_end_at),
        missing_evidence=pl.lit(_MISSING) + no_serial,
    )


REPORT = ReportModel("rma_candidates", ("rma_candidates",), _COLUMNS, _rows)
