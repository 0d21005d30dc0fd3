"""What the scheduler says about nodes: their states at a time, and the lines of its daemons."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table
from bathtub.schema.faults import EVENT

NODE_STATES = Table(
    name="node_states",
    doc="One row per statement about a node: its state at a time (a snapshot), or over an interval (the accounting's events).",
    key=("source_id", "line", "node"),
    domain=(("time_quality", TIME_QUALITY), ("source_kind", ("sinfo", "scontrol", "nodes_json", "sacctmgr_event"))),
    columns=(
        *PROVENANCE,
        Column("source_kind", "string", "what told it: sinfo, scontrol, nodes_json, sacctmgr_event", null=False),
        Column("node", "string", "node, out of the host list", null=False),
        Column("state", "string", "base state, upper case and in full; raw text where unknown; null where only a reason is told"),
        Column("is_state_known", "bool", "whether the state is in the scheduler's list of states", null=False),
        Column("state_flags", "list<string>", "flags beside the base state, a suffix by its flag's name", null=False),
        Column("state_raw", "string", "state as printed"),
        Column("reason", "string", "reason as printed; null for none"),
        Column("is_reason_cut", "bool", "whether the reason may have been cut to the width of its column", null=False),
        Column("reason_by", "string", "who set the reason, without the numeric id"),
        Column("reason_at", "timestamp", "when the reason was set, UTC"),
        Column("started_at", "timestamp", "start of the state, UTC, where the source tells it"),
        Column("ended_at", "timestamp", "end of the state, UTC; null while open, and in a snapshot"),
        Column("booted_at", "timestamp", "last boot of the node, UTC"),
        Column("n_gpus", "int64", "GPUs configured; null where the source does not say"),
        Column("n_gpus_used", "int64", "GPUs in use; null where the source does not say"),
        Column("gres", "string", "configured resources as printed"),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)

SCHEDULER_EVENT_KINDS = (
    "node_not_responding",
    "node_set_down",
    "node_responding",
    "node_rebooted",
    "node_invalid",
    "node_registration_refused",
    "node_reason_set",
    "node_state_set",
    "node_drained",
    "gpu_count_changed",
    "gpu_device_missing",
    "prolog_failed",
    "epilog_failed",
    "launch_failed",
    "job_started",
    "job_ended",
    "job_time_limit",
    "job_killed_by_node",
    "job_requeued_by_node",
    "job_shrunk",
    "job_batch_lost",
    "step_cancelled",
    "step_stuck",
)
"""What a line of the scheduler's daemons can tell: a word per template."""

SCHEDULER_EVENTS = Table(
    name="scheduler_events",
    doc="One row per line of the scheduler's daemons that matters, and per node where the line has a host list.",
    key=("source_id", "line", "node"),
    domain=(("time_quality", TIME_QUALITY), ("event", SCHEDULER_EVENT_KINDS)),
    columns=(
        *EVENT,
        Column("event", "string", "what happened: a stable word", null=False),
        Column("job_id", "string", "job id as shown: 123, 100_4, 100+1"),
        Column("job_id_raw", "string", "the scheduler's own number of this job"),
        Column("step", "string", "step of the job"),
        Column("exit_code", "int64", "exit code that the line tells"),
        Column("exit_signal", "int64", "signal that the line tells"),
        Column("state_set", "string", "state that the node was set to"),
        Column("n_gpus", "int64", "GPUs that the node registered"),
        Column("n_gpus_configured", "int64", "GPUs that it should have"),
        Column("booted_at", "timestamp", "boot time that the line tells, UTC"),
        Column("reason", "string", "reason or cause in the words of the line"),
        Column("text", "string", "the message without its level", null=False),
        Column("flags", "list<string>", "what is doubtful about the row: stable words", null=False),
    ),
)
