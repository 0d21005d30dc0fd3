"""What operators filed: faults of nodes, as labelled by people."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table

FAULT_RECORDS = Table(
    name="fault_records",
    doc="One row per fault of a node that was filed with its start and its end.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        Column("node", "string", "node as written", null=False),
        Column("started_at", "timestamp", "start of the fault, UTC", null=False),
        Column("ended_at", "timestamp", "end of the fault, UTC; null while open, equal to the start where it lasted no time"),
        Column("level", "string", "kind of fault as filed: hardware, software, other"),
        Column("part", "string", "class of fault as filed: the part, or a word for not knowing it"),
        Column("text", "string", "description as filed"),
        Column("record_key", "string", "the same in every export of this fault", null=False),
    ),
)
