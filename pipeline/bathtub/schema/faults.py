"""What devices and hosts say: faults of GPUs and of their switches, faults of hosts."""

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

LINE_KINDS = ("first", "severity", "data", "fabric_manager")
"""The lines that one SXid prints."""

FAMILIES = (
    "aer",
    "dpc",
    "slot",
    "edac",
    "mce",
    "ghes",
    "nic",
    "memory",
    "disk",
    "stall",
    "crash",
    "storage",
    "thermal",
    "power",
    "limit",
    "library",
    "boot",
)
"""What host lines speak of: PCIe reports, slots, memory errors, network cards, killed programs, disks, stalls, power, …"""

GPU_FAULTS = Table(
    name="gpu_faults",
    doc="One row per line or event about a fault of a GPU or of an NVSwitch; a code nobody knows is a row like any other.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY), ("line_severity", ("fatal", "nonfatal")), ("line_kind", LINE_KINDS)),
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
        Column("line_severity", "string", "severity that the line states: fatal, nonfatal"),
        Column("sxid", "int64", "NVSwitch error code; xid is null then"),
        Column("line_kind", "string", "of an SXid, which of its lines: first, severity, data, fabric_manager"),
        Column("unit", "string", "hardware unit that an NVLink line names (144-150), GPC and TPC of an exception (13)"),
        Column("link", "int64", "NVLink link or switch port; -1 where the line says so"),
        Column("subcode", "int64", "sub-code of an NVLink line (149), from its first register"),
        Column("registers", "list<int64>", "words in hexadecimal that decode the line (74, 144-150, data of an SXid)"),
        Column("is_first", "bool", "the switch marks it as the first error of its port"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)

HOST_FAULTS = Table(
    name="host_faults",
    doc="One row per line about a fault (or the end of one) of a host, of its cards, disks and file systems.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY), ("family", FAMILIES)),
    columns=(
        *EVENT,
        Column("family", "string", "what the line speaks of", null=False),
        Column("kind", "string", "what it says of it: a stable word of the knowledge table `host_fault_kinds`", null=False),
        Column("device", "string", "what it is about, as the line names it: PCI address with function, nvme0, sda, MC0, CPU3"),
        Column("pci_bdf", "string", "domain:bus:device, lower case, 4-digit domain, no function"),
        Column("port_bdf", "string", "PCI port above the device that reports it, with function"),
        Column("interface", "string", "network interface"),
        Column("port", "int64", "port, module or slot number"),
        Column("peer", "string", "server or target at the other end"),
        Column("pid", "int64", "process"),
        Column("process", "string", "its name"),
        Column("severity_word", "string", "severity as the line writes it, lower case"),
        Column("code", "string", "status, error or event code as written"),
        Column("n_errors", "int64", "errors that the line counts"),
        Column("report", "string", "number of the report that several lines belong to"),
        Column("text", "string", "the message"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)
