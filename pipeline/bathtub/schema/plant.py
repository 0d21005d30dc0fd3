"""What people wrote down and what the logs cover: inventory, maintenance, coverage."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table

INVENTORY = Table(
    name="inventory",
    doc="One row per device seen in a slot.",
    key=("source_id", "line"),
    day_of=None,
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        Column("node", "string", "node as written", null=False),
        Column("rack", "string", "rack"),
        Column("slot", "string", "slot"),
        Column("device_class", "string", "gpu, nic, nvswitch, transceiver, disk, psu, dimm, node", null=False),
        Column("pci_bdf", "string", "domain:bus:device, lower case, 4-digit domain, no function"),
        Column("device_uuid", "string", "UUID"),
        Column("device_serial", "string", "serial as text, leading zeros kept"),
        Column("part_number", "string", "part number"),
        Column("vendor", "string", "vendor"),
        Column("model", "string", "model"),
        Column("lot", "string", "production lot"),
        Column("firmware", "string", "firmware"),
        Column("in_service_at", "timestamp", "put into service, UTC; null where unknown"),
        Column("removed_at", "timestamp", "taken out, UTC; null while in service"),
        Column("extra", "string", "further columns of the file as JSON text"),
    ),
)

MAINTENANCE = Table(
    name="maintenance",
    doc="One row per planned window and node.",
    key=("source_id", "line", "node"),
    day_of=None,
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        Column("node", "string", "node, out of the host list", null=False),
        Column("started_at", "timestamp", "start, UTC", null=False),
        Column("ended_at", "timestamp", "end, UTC", null=False),
        Column("reason", "string", "reason as written"),
        Column("extra", "string", "further columns of the file as JSON text"),
    ),
)

COVERAGE = Table(
    name="coverage",
    doc="One row per source, node and UTC day on which the source holds a line of that node, or an agent watched it for Xids.",
    key=("source_id", "node", "day"),
    day_of="first_at",
    columns=(
        Column("source_id", "string", "identity of the source", null=False),
        Column("cluster", "string", "cluster of the source", null=False),
        Column("node", "string", "node as written; null where the source does not say"),
        Column("day", "date", "UTC day", null=False),
        Column("first_at", "timestamp", "first sampled line or look of the day", null=False),
        Column("last_at", "timestamp", "last sampled line or look of the day", null=False),
        Column("n_sampled", "int64", "lines whose header was decoded, or looks", null=False),
    ),
)
