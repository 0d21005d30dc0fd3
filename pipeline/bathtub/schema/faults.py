"""What devices and hosts say: GPU faults."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table

EVENT: tuple[Column, ...] = (
    *PROVENANCE,
    Column("seen_at_raw", "string", "the time stamp as written"),
    Column("zone_assumed", "string", "time zone taken from the configuration; null where the stamp has its own"),
    Column("boot_id", "string", "boot, where the carrier names it"),
    Column("monotonic_us", "int64", "time since boot, where the carrier has it", unit="us"),
    Column("node", "string", "node as written, or as configured for the source; null where unknown"),
    Column("raw", "string", "the record as read, undecodable bytes replaced", null=False),
)
"""Provenance of a row that came out of a log line."""

GPU_FAULTS = Table(
    name="gpu_faults",
    doc="One row per line or event about a GPU fault; a code nobody knows is a row like any other.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *EVENT,
        Column("xid", "int64", "driver's error code"),
        Column("is_xid_inferred", "bool", "the line carries no code; it follows from its text", null=False),
        Column("pci_bdf", "string", "domain:bus:device, lower case, 4-digit domain, no function"),
        Column("device_uuid", "string", "GPU UUID, where the line names it"),
        Column("gpu_instance", "int64", "MIG GPU instance"),
        Column("compute_instance", "int64", "MIG compute instance"),
        Column("pid", "int64", "process the driver names; never the culprit by itself"),
        Column("process", "string", "its kernel task name"),
        Column("text", "string", "what follows the code and the process"),
        Column("memory_site", "string", "dram or sram, where the text of a memory error names the broken part"),
        Column("recovery_action", "int64", "action number that a recovery summary (154) changes to; 0 is none"),
        Column("caused_by_xid", "int64", "`caused by previous Xid`"),
        Column("line_severity", "string", "severity word in the line"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)
