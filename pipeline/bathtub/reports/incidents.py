"""incidents.csv: one row per incident of the window."""

from collections.abc import Mapping

import polars as pl

from bathtub.reports import Context, ReportModel

_COLUMNS = (
    ("incident_id", "made of the content of its earliest evidence; stays when other logs come in"),
    ("cluster", "cluster"),
    ("started_at", "first evidence, UTC"),
    ("detected_at", "first end of an attempt that it ended, else as started_at, UTC"),
    ("resumed_at", "next start of one of its jobs, else when its GPU needed no recovery any more (Xid 154), UTC; or null"),
    ("job_ids", "jobs that it ended, `;` between"),
    ("nodes", "nodes of its evidence and of its jobs, `;` between"),
    ("n_nodes", "number of these"),
    ("n_gpus", "GPUs that its jobs held; null where the scheduler does not say"),
    ("is_planned", "in a maintenance window: no failure"),
    ("component", "part to blame; unknown where the logs do not say"),
    ("cause", "what happened to it: a stable word"),
    ("device_serial", "serial of the device at that time, as text; null where no inventory names it"),
    ("device_uuid", "UUID of the device"),
    ("device_bdf", "PCI domain:bus:device"),
    ("device_node", "node of the device"),
    ("severity", "info, warning, app, decode, degraded, fatal_gpu, fatal_node, unknown"),
    ("is_failure", "counts as a failure; null where the severity is unknown"),
    ("verdict_status", "classified, unknown, planned"),
    ("confidence", "high, medium, low"),
    ("rule_id", "rule that decided"),
    ("knowledge_version", "hash of the knowledge tables in force"),
    ("action", "recommended action"),
    ("alternatives", "other components that a rule would have named, with the rule, `;` between"),
    ("symptom_chain", "evidence in order of time, up to 12, `;` between"),
    ("evidence_refs", "source_id:line of the evidence, up to 24, `;` between"),
    ("gpu_hours_lost", "null until recovery is measured"),
    ("cost", "null until recovery is measured"),
    ("checkpoint_age_s", "null until recovery is measured"),
    ("sources_present", "kinds of sources that its evidence comes from, `;` between"),
)


def _rows(marts: Mapping[str, pl.DataFrame], _context: Context) -> pl.DataFrame:
    return marts["incidents"]


REPORT = ReportModel("incidents", ("incidents",), _COLUMNS, _rows)
