"""What is planted: one row per incident, and what a right judge says of it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Planted:
    """One incident.

    `day`, `hhmm` are when its first line comes (local time, moved by up to twenty minutes by the seed). `n_nodes` is
    the size of its job, 0 for an idle node; the job has run for `ran_h` by then and ends `ends_after_s` later as
    `state` with `exit_code`. `script` names its kernel lines, `dumps` its flight recorder. `component` is what
    really failed, `expected_component` what these files allow one to say.
    """

    planted_id: str
    day: int
    hhmm: str
    n_nodes: int
    component: str
    expected_component: str
    expected_cause: str
    note: str
    ran_h: float = 3.0
    ends_after_s: float = 60.0
    state: str = "FAILED"
    exit_code: str = "134:0"
    script: str | None = None
    dumps: str | None = None
    is_failure: bool = True
    is_planned: bool = False
    is_node_down: bool = False
    is_requeued: bool = False
    has_device: bool = True


PLAN = (
    Planted(
        planted_id="a-hbm-contained", day=2, hhmm="10:40", n_nodes=8, script="hbm_contained", ends_after_s=48,
        component="hbm", expected_component="hbm", expected_cause="uncorrectable_ecc",
        note="48 in the framebuffer with 63 and 94, then a storm of 45; the job aborts",
    ),
    Planted(
        planted_id="b-hbm-storm", day=3, hhmm="15:10", n_nodes=4, script="hbm_storm", ends_after_s=598,
        component="hbm", expected_component="hbm", expected_cause="uncontained_ecc",
        note="2,000 lines of 95 in eight minutes are one burst; the GPU is replaced two days later",
    ),
    Planted(
        planted_id="c-sram", day=4, hhmm="08:20", n_nodes=2, script="sram", ends_after_s=22,
        component="gpu_sram", expected_component="gpu_sram", expected_cause="uncorrectable_ecc",
        note="48 naming SRAM, with 172",
    ),
    Planted(
        planted_id="d-off-the-bus", day=4, hhmm="21:30", n_nodes=4, script="off_the_bus", ends_after_s=305,
        state="NODE_FAIL", exit_code="0:1", is_node_down=True, is_requeued=True,
        component="gpu", expected_component="gpu", expected_cause="off_the_bus",
        note="79 with and without its code; the scheduler gives the node up after five minutes and requeues the job",
    ),
    Planted(
        planted_id="e-gsp", day=5, hhmm="13:50", n_nodes=4, script="gsp", ends_after_s=612, exit_code="6:0",
        component="gsp", expected_component="gsp", expected_cause="firmware_timeout",
        note="119 again and again; the job hangs until its watchdog aborts it",
    ),
    Planted(
        planted_id="f-nvlink", day=6, hhmm="09:30", n_nodes=2, script="nvlink", ends_after_s=95,
        component="nvlink", expected_component="nvlink", expected_cause="link_error",
        note="74 on one link",
    ),
    Planted(
        planted_id="g-page-fault", day=7, hhmm="11:00", n_nodes=1, script="page_fault", ends_after_s=9, exit_code="1:0",
        component="software", expected_component="software", expected_cause="program_fault",
        note="31, then 43 and 45: an illegal address of the program", has_device=False,
    ),
    Planted(
        planted_id="h-exception", day=7, hhmm="19:20", n_nodes=2, script="exception", ends_after_s=14, exit_code="1:0",
        component="software", expected_component="software", expected_cause="program_fault",
        note="sixteen lines of 13 on many units, then 43: the program again", has_device=False,
    ),
    Planted(
        planted_id="i-host-hang", day=8, hhmm="14:30", n_nodes=2, dumps="never_joined", ends_after_s=2400,
        state="CANCELLED by 5003", exit_code="0:0", has_device=False,
        component="os", expected_component="os", expected_cause="rank_never_joined",
        note="one rank never joins an all_reduce and its host's log is silent: os, and no more than low confidence",
    ),
    Planted(
        planted_id="j-missing-dump", day=9, hhmm="02:15", n_nodes=1, dumps="missing", ends_after_s=3000,
        state="TIMEOUT", exit_code="0:0", has_device=False,
        component="gpu", expected_component="unknown", expected_cause="rank_without_dump",
        note="the rank that all wait for left no dump: the files cannot tell its GPU from its host",
    ),
    Planted(
        planted_id="k-maintenance", day=9, hhmm="09:25", n_nodes=1, script="reboot_noise", ends_after_s=310, ran_h=4.0,
        state="NODE_FAIL", exit_code="0:1", is_node_down=True, is_failure=False, is_planned=True, has_device=False,
        component="maintenance", expected_component="maintenance", expected_cause="planned_maintenance",
        note="a planned window: 79 and 154 while the node goes down, and a small job that was still there",
    ),
    Planted(
        planted_id="l1-job-exit", day=10, hhmm="10:10", n_nodes=1, ends_after_s=0, exit_code="1:0", has_device=False, ran_h=0.2,
        component="software", expected_component="unknown", expected_cause="job_exit",
        note="a user's mistake that leaves nothing but an exit code",
    ),
    Planted(
        planted_id="l2-job-exit", day=10, hhmm="16:45", n_nodes=2, ends_after_s=0, exit_code="2:0", has_device=False, ran_h=0.4,
        component="software", expected_component="unknown", expected_cause="job_exit",
        note="another one",
    ),
    Planted(
        planted_id="m-out-of-memory", day=11, hhmm="12:30", n_nodes=1, script="job_memory", ends_after_s=3,
        state="OUT_OF_MEMORY", exit_code="0:125",
        component="software", expected_component="software", expected_cause="out_of_memory", has_device=False,
        note="the job's own memory limit",
    ),
    Planted(
        planted_id="n-row-remap", day=11, hhmm="18:00", n_nodes=0, script="row_remap", is_failure=False,
        component="hbm", expected_component="hbm", expected_cause="row_remap",
        note="63 alone on an idle node: a warning, not a failure",
    ),
    Planted(
        planted_id="o-silent-node", day=12, hhmm="05:40", n_nodes=4, ends_after_s=300, state="NODE_FAIL", exit_code="0:1",
        is_node_down=True, has_device=False,
        component="power", expected_component="unknown", expected_cause="node_fail",
        note="the node lost power; no log line says so",
    ),
    Planted(
        planted_id="p-cancelled", day=12, hhmm="15:15", n_nodes=1, script="program_killed", ends_after_s=1,
        state="CANCELLED by 5001", exit_code="0:0", is_failure=False, has_device=False,
        component="software", expected_component="software", expected_cause="program_killed",
        note="45 as the user's own scancel ends the program",
    ),
    Planted(
        planted_id="q-new-code", day=13, hhmm="11:50", n_nodes=2, script="new_code", ends_after_s=33,
        component="gpu", expected_component="unknown", expected_cause="unknown_xid",
        note="a code that no catalogue has",
    ),
    Planted(
        planted_id="r-idle-gpu", day=13, hhmm="20:05", n_nodes=0, script="pmu_halt",
        component="gpu", expected_component="gpu", expected_cause="gpu_halt",
        note="62 on an idle node: a failure that killed nobody",
    ),
)  # fmt: skip

SILENT_NODE = "gpu-a08"
"""Its logs of two days, civil and UTC, were never collected: nothing is planted on it, and these days are not failure-free."""

SILENT = ((5, "00:00"), (7, "01:00"))
MAINTENANCE_HHMM = ("09:00", "13:00")
REPLACED = "b-hbm-storm"
"""The incident whose GPU is replaced."""

REPLACED_AFTER_DAYS = 2
REPLACED_HHMM = ("08:00", "10:00")
