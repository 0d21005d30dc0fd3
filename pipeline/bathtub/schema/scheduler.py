"""What the scheduler says: attempts and their steps."""

from bathtub.schema._types import PROVENANCE, TIME_QUALITY, Column, Table

_STATE: tuple[Column, ...] = (
    Column("job_id", "string", "job id as shown: 123, 100_4, 100+1", null=False),
    Column("job_id_raw", "string", "the scheduler's own number of this job; null where the export lacks it"),
    Column("submitted_at", "timestamp", "submission of this attempt, UTC"),
    Column("started_at", "timestamp", "start, UTC; null when it never started"),
    Column("ended_at", "timestamp", "end, UTC; null while open"),
    Column("elapsed_s", "int64", "run time without suspension, as the scheduler counted it", unit="s"),
    Column("suspended_s", "int64", "time suspended", unit="s"),
    Column("state", "string", "base state or the flag printed instead of it; raw text where unknown"),
    Column("is_state_known", "bool", "whether the state is in the scheduler's list of states", null=False),
    Column("cancelled_by", "string", "numeric user id behind `CANCELLED by`"),
    Column("exit_code", "int64", "exit code; null where blank"),
    Column("exit_signal", "int64", "signal; null where blank"),
    Column("n_nodes", "int64", "number of nodes as printed"),
    Column("node_list", "string", "host list as printed; null where there is no node"),
    Column("nodes", "list<string>", "host list expanded, printed spelling; null where unknown or none"),
    Column("n_gpus", "int64", "GPUs held (allocated); null where the record does not say"),
    Column("alloc_tres", "string", "allocated resources as printed"),
    Column("flags", "list<string>", "what is doubtful about the record: stable words", null=False),
)

JOBS = Table(
    name="jobs",
    doc="One row per record of an attempt (a job, or a run of a pod); exports overlap, staging keeps the final record of each.",
    key=("source_id", "line", "run"),
    day_of="submitted_at",
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        *_STATE,
        Column(
            "gang_id",
            "string",
            "what runs and ends as one: `namespace/kind/name` of a pod's job; null for Slurm",
        ),
        Column("run", "int64", "restarts of the pod's main container before this run of it; null for Slurm"),
        Column(
            "base_job_id",
            "string",
            "number in front of `_` and `+`: the array's, or the heterogeneous job's leader; the name of a pod's job",
        ),
        Column(
            "array_task",
            "string",
            "array task: a number, or a list in brackets of tasks that still wait; a pod's place in its job: worker-3",
        ),
        Column("het_offset", "int64", "component of a heterogeneous job, 0 is the leader"),
        Column("derived_exit_code", "int64", "highest exit code of the steps"),
        Column("derived_exit_signal", "int64", "signal of that step"),
        Column("failed_node", "string", "node whose failure ended the attempt, where the export has it"),
        Column("n_gpus_requested", "int64", "GPUs asked for"),
        Column("req_tres", "string", "requested resources as printed"),
        Column("req_mem_bytes", "int64", "memory asked for, per what req_mem_basis says", unit="bytes"),
        Column("req_mem_basis", "string", "per_node, per_cpu, total"),
        Column("timelimit_s", "int64", "time limit; null for none, unlimited or the partition's", unit="s"),
        Column("timelimit_kind", "string", "limited, unlimited, partition, invalid; null where not exported"),
        Column("restarts", "int64", "restarts counted by the scheduler"),
        Column("partition_name", "string", "partition"),
        Column("account", "string", "account"),
        Column("user_name", "string", "user"),
        Column("qos", "string", "quality of service"),
        Column("job_name", "string", "job name"),
        Column("reason", "string", "why the job waited (not why it failed)"),
        Column("submit_line", "string", "command that submitted it"),
        Column("gpu_indices", "list<string>", "`host list:indices` of the GPUs held, as printed; null where not told"),
    ),
)

JOB_STEPS = Table(
    name="job_steps",
    doc="One row per job step of a record; failures are counted on attempts only.",
    key=("source_id", "line", "step", "het_component", "run"),
    domain=(("time_quality", TIME_QUALITY),),
    columns=(
        *PROVENANCE,
        *_STATE,
        Column("step", "string", "batch, extern, interactive, TBD or the step number; the container of a pod", null=False),
        Column("het_component", "int64", "component of a heterogeneous step"),
        Column("run", "int64", "restarts of the container before this run of it; null for Slurm"),
        Column("reason", "string", "why the container waits or ended, in the cluster's own word; null for Slurm"),
        Column("is_init", "bool", "whether the container runs before the others; null for Slurm"),
    ),
)
