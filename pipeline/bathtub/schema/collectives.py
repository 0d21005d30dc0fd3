"""What a hung job leaves: flight-recorder dumps, their entries and watermarks."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table

_DUMP: tuple[Column, ...] = (
    *PROVENANCE,
    Column("dump_set", "string", "folder of the dump below the inbox: the dumps of one moment", null=False),
    Column("rank", "int64", "global rank, from the file's name; null where it has none"),
)

DUMPS = Table(
    name="dumps",
    doc="One row per readable flight-recorder dump, also where it holds no entry.",
    key=("source_id",),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *_DUMP,
        Column("host", "string", "what stands before the rank in the file's name, where it is a host or worker"),
        Column("node", "string", "node of the configured path pattern"),
        Column("job_id", "string", "job of the configured path pattern"),
        Column("version", "string", "layout version, `2.10`", null=False),
        Column("comm_lib_version", "string", "communication library's version"),
        Column("n_entries", "int64", "entries in the ring", null=False),
        Column("n_groups", "int64", "process groups with a status", null=False),
        Column("first_created_at", "timestamp", "creation of the oldest entry"),
        Column("last_created_at", "timestamp", "creation of the newest entry"),
        Column("flags", "list<string>", "what is doubtful about the dump: stable words", null=False),
    ),
)

COLLECTIVES = Table(
    name="collectives",
    doc="One row per flight-recorder entry and rank.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *_DUMP,
        Column("record_id", "int64", "running number on this rank only; never align ranks on it"),
        Column("pg_id", "int64", "rank-local number of the process group"),
        Column("pg_name", "string", "process group's name, equal on its members"),
        Column("pg_desc", "string", "process group's description"),
        Column("collective_seq_id", "int64", "number of the collective in its group, equal on all members"),
        Column("p2p_seq_id", "int64", "number of the send or receive in the group on this rank"),
        Column("op_id", "int64", "logical operation, counting each member of a batch"),
        Column("profiling_name", "string", "`<backend>:<operation>`"),
        Column("input_sizes", "string", "shapes as JSON text"),
        Column("output_sizes", "string", "shapes as JSON text"),
        Column("input_dtypes", "string", "types as JSON text"),
        Column("output_dtypes", "string", "types as JSON text"),
        Column("state", "string", "scheduled, started, completed as written"),
        Column("is_retired", "bool", "the watchdog no longer tracks it"),
        Column("is_p2p", "bool", "a send or a receive"),
        Column("created_ns", "int64", "enqueued, host clock since the epoch", unit="ns"),
        Column("started_ns", "int64", "start noticed by a CPU thread", unit="ns"),
        Column("completed_ns", "int64", "completion noticed by a CPU thread", unit="ns"),
        Column("duration_ms", "float64", "measured on the device, where timing is on", unit="ms"),
        Column("timeout_ms", "int64", "timeout of the operation", unit="ms"),
        Column("thread_name", "string", "thread that enqueued it"),
    ),
)

PROCESS_GROUPS = Table(
    name="process_groups",
    doc="One row per process group and rank: watermarks and, where the dump has it, the members.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *_DUMP,
        Column("pg_id", "int64", "rank-local number; null where only the configuration names the group"),
        Column("pg_name", "string", "process group's name; null where no entry maps the number to it"),
        Column("pg_desc", "string", "process group's description"),
        Column("member_ranks", "list<int64>", "members, global ranks; null where the dump does not say"),
        Column("last_enqueued", "int64", "last enqueued collective; -1 is never"),
        Column("last_started", "int64", "last started collective; -1 is never"),
        Column("last_completed", "int64", "last completed collective; -1 is never"),
    ),
)
