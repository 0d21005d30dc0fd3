r"""Lines of Slurm's controller, `slurmctld`: nodes lost and returned, drained and refused, and what became of their jobs.

    error: Nodes gpu-[01-03] not responding, setting DOWN
    requeue job JobId=12210_11(12238) due to failure of node gpu-02

Written by Slurm 20.11 to 26.05 into its own log, the journal or syslog. Each template is anchored at the start of the
message behind its levels, since reasons may quote other messages. A host list gives one row per node; a line about a
job alone has no node, and the host that wrote it is not one. `done` of a job follows the line with its exit code and
is no second event. What a line's `NodeList` holds where a job starts are its nodes, not failed ones.

Not read: submissions, scheduling statistics, SLUIDs, forms of before 18.08 (`job 123`), the power saving's other lines.

Rejects: bad_node_list (a line about nodes only; of a job's line the node is null, and it is flagged).
"""

from bathtub.ingest._messages import Grammar, Said
from bathtub.ingest._messages._slurm import JOB, NODES, template, told
from bathtub.schema import table

_TEMPLATES = (
    # Nodes n03 not responding, setting DOWN
    template("node_set_down", rf"Nodes {NODES} not responding, setting (?P<state_set>DOWN)"),
    # Nodes n[03-05] not responding
    template("node_not_responding", rf"Nodes {NODES} not responding"),
    # node n03 not resumed by ResumeTimeout(600), setting DOWN and POWERED_DOWN
    template(
        "node_set_down", rf"node {NODES} not resumed by (?P<reason>ResumeTimeout\([0-9]+\)), setting (?P<state_set>DOWN)\b.*"
    ),
    # Node n03 now responding            node_did_resp: node n03 returned to service
    template("node_responding", rf"Node {NODES} now responding"),
    template("node_responding", rf"(?:[a-z_]+: )?[Nn]ode {NODES} returned to service"),
    # validate_node_specs: Node n03 unexpectedly rebooted boot_time=1726123354 last response=1726123285
    template(
        "node_rebooted",
        rf"(?:[a-z_]+: )?Node {NODES} unexpectedly rebooted(?: boot_time=(?P<booted>[0-9]{{1,10}}) last response=[0-9]+)?",
    ),
    # Killing JobId=48 on failed node n03
    template("job_killed_by_node", rf"Killing {JOB} on failed node {NODES}"),
    # requeue job JobId=12210_11(12238) due to failure of node n03
    template("job_requeued_by_node", rf"requeue job {JOB} due to failure of node {NODES}"),
    # Removing failed node n03 from JobId=48
    template("job_shrunk", rf"Removing failed node {NODES} from {JOB}"),
    # Batch JobId=48 missing from batch node n03 (not found BatchStartTime after startup), Requeuing job
    template("job_batch_lost", rf"Batch {JOB} missing from batch node {NODES} \((?P<reason>[^)]*)\).*"),
    # _job_complete: JobId=127441 WTERMSIG 9
    template("job_ended", rf"_job_complete: {JOB} WEXITSTATUS (?P<exit_code>[0-9]{{1,9}})"),
    template("job_ended", rf"_job_complete: {JOB} WTERMSIG (?P<exit_signal>[0-9]{{1,9}})"),
    template("job_ended", rf"_job_complete: {JOB} (?P<reason>OOM failure|cancelled by (?:node failure|interactive user))"),
    template("job_ended", rf"_job_complete: requeue {JOB} (?P<reason>due to node failure|per user/system request)"),
    # Time limit exhausted for JobId=48
    template("job_time_limit", rf"Time limit exhausted for {JOB}"),
    # sched: Allocate JobId=127441 NodeList=c014 #CPUs=2 Partition=gpu
    template("job_started", rf"(?:sched: )?Allocate {JOB} NodeList={NODES} #CPUs=[0-9]+ Partition=.*"),
    # Prolog launch failure, JobId=48
    template("prolog_failed", rf"Prolog launch failure, {JOB}"),
    # _slurm_rpc_epilog_complete: JobId=48 epilog error on n03, draining the node
    template("epilog_failed", rf"[A-Za-z_]+: {JOB} epilog error on {NODES}, (?P<reason>(?P<state_set>drain)ing the node)"),
    # Prolog/Epilog failure on nodes n[03-04], set to state DRAIN
    template("epilog_failed", rf"(?P<reason>Prolog/Epilog failure) on nodes {NODES}, set to state (?P<state_set>[A-Z_+]+)"),
    # slurmd error running JobId=48 on Node(s)=n03: Slurmd could not execve job
    template("launch_failed", rf"slurmd error running {JOB} on Node\(s\)={NODES}: (?P<reason>.*)"),
    # update_node: node n03 reason set to: Scheduler health check failed      text of people and scripts: anything
    template("node_reason_set", rf"update_node: node {NODES} reason set to: (?P<reason>.*)"),
    template("node_state_set", rf"update_node: node {NODES} state set to (?P<state_set>[A-Z_+*]+)"),
    # drain_nodes: node n03 state set to DRAIN
    template("node_drained", rf"drain_nodes: node {NODES} state set to (?P<state_set>[A-Z_+*]+)"),
    # Setting node n03 state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8), Low RealMemory (…)
    template("node_invalid", rf"Setting node {NODES} state to (?P<state_set>INVAL) with reason:\s*(?P<reason>.*)"),
    # _node_config_validate: gres/gpu: Count changed on node g001 (4 != 3)
    template(
        "gpu_count_changed",
        rf"(?:[a-z_]+: )?gres/gpu: Count changed on node {NODES} "
        r"\((?P<n_gpus_configured>[0-9]{1,6}) != (?P<n_gpus>[0-9]{1,6})\)",
    ),
    # _slurm_rpc_node_registration node=g001: Invalid argument
    template("node_registration_refused", rf"_slurm_rpc_node_registration node={NODES}: (?P<reason>.*)"),
)


def parse(text: str) -> Said | None:
    """The rows of one message of the controller, a row per node that it names."""
    return told(text, _TEMPLATES)


GRAMMAR = Grammar(
    name="slurmctld",
    version="2",
    table=table("scheduler_events"),
    emitters=frozenset({"slurmctld", "slurm"}),
    literals=(
        b"JobId=",
        b"responding",
        b"returned to service",
        b"ResumeTimeout",
        b"unexpectedly rebooted",
        b" set to",
        b"state to INVAL",
        b"Count changed on node",
        b"node_registration node=",
    ),
    parse=parse,
)
