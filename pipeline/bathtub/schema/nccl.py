"""What a job's collective library prints: watchdog, network and RAS lines, where ranks ran, how fast collectives were."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table
from bathtub.schema.faults import EVENT

NCCL_KINDS = (
    "watchdog_timeout",
    "watermark",
    "watchdog_stuck",
    "watchdog_exit",
    "net_ib_error",
    "net_ib_event",
    "socket_closed",
    "proxy_error",
    "cuda_error",
    "mismatch",
    "desync",
    "gloo_timeout",
    "gloo_mismatch",
    "ras_ok",
    "ras_error",
    "ras_lag",
    "ras_rank",
    "ras_count",
    "ras_missing",
    "rank_exit",
    "other",
)
"""What a line can tell: a word per wording family; `other` is a warning of NCCL that nobody knows."""

ROLES = ("root", "cascade", "waiter", "context")
"""What the text alone says of its writer: told an error of its own, lost a peer, waits, or neither."""

PLACED_BY = ("init", "environment", "launcher")

NCCL_EVENTS = Table(
    name="nccl_events",
    doc="One row per line or record of a job's output, of RAS or of the watchdog that matters for a hang or a lost peer.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY), ("kind", NCCL_KINDS), ("role", ROLES)),
    columns=(
        *EVENT,
        Column("kind", "string", "what the line tells: a stable word", null=False),
        Column("role", "string", "what the text tells of its writer: root, cascade, waiter, context", null=False),
        Column("rank", "int64", "global rank of the writer"),
        Column("group_rank", "int64", "rank in the process group or communicator"),
        Column("ranks", "list<int64>", "ranks that the line lists", null=False),
        Column("n_ranks", "int64", "ranks that the line counts; of RAS JSON the size of the communicator"),
        Column("pg_id", "int64", "rank-local number of the process group"),
        Column("pg_name", "string", "process group's name; of RAS the communicator's hash"),
        Column("pg_desc", "string", "process group's description"),
        Column("seq", "int64", "sequence number of the operation it is about"),
        Column("op", "string", "operation as written"),
        Column("last_enqueued", "int64", "last enqueued operation; of RAS the operations launched; -1 is never"),
        Column("last_completed", "int64", "last completed operation; -1 is never"),
        Column("status", "int64", "status of a work completion (InfiniBand)"),
        Column("opcode", "int64", "opcode of a work completion"),
        Column("vendor_err", "int64", "vendor's error number of a work completion"),
        Column("hca", "string", "network device"),
        Column("address", "string", "own address, as the line names it"),
        Column("peer", "string", "address at the other end, without port"),
        Column("error", "string", "the error's own words, where they are a fixed text"),
        Column("host", "string", "host, pod or worker that the line itself names"),
        Column("pid", "int64", "process"),
        Column("local_gpu", "int64", "CUDA device, or rank on the node"),
        Column("exit_code", "int64", "exit code; null where a signal ended it"),
        Column("exit_signal", "int64", "signal that ended the process"),
        Column("timeout_ms", "int64", "timeout of the operation", unit="ms"),
        Column("elapsed_ms", "int64", "how long it ran or stood", unit="ms"),
        Column("text", "string", "the message"),
        Column("job_id", "string", "job of the configured path pattern"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)

PLACEMENTS = Table(
    name="placements",
    doc="One row per line that says where a rank runs.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY), ("source_kind", PLACED_BY)),
    columns=(
        *EVENT,
        Column(
            "source_kind", "string", "init (the library's own line), environment (variables of the job), launcher", null=False
        ),
        Column("rank", "int64", "rank in the communicator; global where that is the largest of the job", null=False),
        Column("n_ranks", "int64", "ranks of the communicator"),
        Column("comm_id", "string", "communicator as the line names it"),
        Column("host", "string", "host, pod or worker that the line itself names"),
        Column("pid", "int64", "process"),
        Column("local_gpu", "int64", "CUDA device of the process"),
        Column("nvml_gpu", "int64", "GPU number of the node, where the line has it"),
        Column("pci_bdf", "string", "domain:bus:device, lower case, 4-digit domain, no function"),
        Column("job_id", "string", "job of the configured path pattern"),
    ),
)

COLLECTIVE_SPEEDS = Table(
    name="collective_speeds",
    doc="One row per finished collective and rank that NCCL's inspector recorded. It drops records silently.",
    key=("source_id", "line"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        Column("comm_id", "string", "communicator", null=False),
        Column("rank", "int64", "rank in the communicator", null=False),
        Column("n_ranks", "int64", "ranks of the communicator"),
        Column("n_nodes", "int64", "nodes of the communicator"),
        Column("node", "string", "host as written"),
        Column("pid", "int64", "process"),
        Column("op", "string", "collective", null=False),
        Column("seq", "int64", "number of the collective among those of its kind", null=False),
        Column("message_bytes", "int64", "size of the message", unit="bytes"),
        Column("elapsed_us", "int64", "execution time", unit="us"),
        Column("timing_source", "string", "which clock measured it, as written"),
        Column("algo_bandwidth_gbs", "float64", "algorithm bandwidth", unit="GB/s"),
        Column("bus_bandwidth_gbs", "float64", "bus bandwidth", unit="GB/s"),
        Column("job_id", "string", "job of the configured path pattern"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)
