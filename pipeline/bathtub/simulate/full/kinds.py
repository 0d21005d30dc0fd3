"""The kinds of incidents: what fails, what it does to the job, and what each source then allows a right judge to say.

What is right is fixed here from the reference alone, before anything is classified. `verdicts` are read in order; the first
whose sources were all written holds. A component is the part to blame; a cause stands only where its word is fixed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Ending = Literal["none", "abort", "node", "hang", "exit", "memory", "launch", "cancel", "taken"]
"""What becomes of the job: goes on; its ranks abort; its node is lost; its watchdog ends it after ten minutes; the program
exits; its memory limit; it fails as it starts; an operator cancels it; an operator takes its node."""


@dataclass(frozen=True)
class Verdict:
    """What can be said with these sources."""

    needs: frozenset[str]
    component: str
    cause: str = ""
    names_device: bool = False
    also: str = ""


def says(needs: str, component: str, cause: str = "", *, device: bool = False, also: str = "") -> Verdict:
    """A verdict; sources and further right components have blanks between them."""
    return Verdict(frozenset(needs.split()), component, cause, device, also)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind. `weight` is its share within its component; `script` its log lines; `shares` what its scope shares."""

    name: str
    component: str
    verdicts: tuple[Verdict, ...] = ()
    weight: float = 1.0
    ends: Ending = "abort"
    script: str = ""
    dumps: str = ""
    shares: str = ""
    device: Literal["gpu", "nic", ""] = ""
    needs_job: bool = False
    is_failure: bool = True
    is_planned: bool = False
    repair_h: float = 0.0
    swap: float = 0.0
    note: str = ""


_GPU: dict[str, object] = {"device": "gpu", "repair_h": 6.0, "swap": 0.5}
_HOST: dict[str, object] = {"ends": "node", "repair_h": 10.0}


def _gpu(name: str, component: str, cause: str, **more: object) -> Kind:
    verdict = says("kernel", component, cause, device=True)
    return Kind(**({"name": name, "component": component, "verdicts": (verdict,), "script": name} | _GPU | more))  # type: ignore[arg-type]


def _host(name: str, component: str, cause: str = "", **more: object) -> Kind:
    verdict = says("kernel", component, cause)
    return Kind(**({"name": name, "component": component, "verdicts": (verdict,), "script": name} | _HOST | more))  # type: ignore[arg-type]


def _dead(component: str, weight: float) -> Kind:
    return Kind(
        name=f"dead_{component}", component=component, weight=weight, ends="node", repair_h=8.0,
        note="the node went dark before anything reached its log",
    )  # fmt: skip


# Peers print status 12, which is the network or a dead peer: both answers are right.
_NETWORK = (says("kernel", "switch_or_cable"), says("job", "unknown", also="switch_or_cable"))

HANGS = (
    Kind(
        name="hang_host", component="os", dumps="never_joined", ends="hang", needs_job=True, repair_h=2.0, weight=0.7,
        verdicts=(says("recorder", "os", "rank_never_joined"),), note="a host stops in the middle of a step; its log is silent",
    ),
    Kind(
        name="hang_lockup", component="os", dumps="never_joined", script="soft_lockup", ends="hang", needs_job=True, repair_h=2.0,
        verdicts=(says("kernel", "os"), says("recorder", "os", "rank_never_joined")), note="a CPU is stuck, its rank never joins",
    ),
    Kind(
        name="hang_gpu", component="gpu", dumps="completion_stuck", ends="hang", needs_job=True, device="gpu", repair_h=6.0,
        weight=0.12, verdicts=(says("recorder", "gpu", device=True),), note="a GPU stops and says nothing: only the dumps tell",
    ),
    Kind(
        name="hang_software", component="software", dumps="op_mismatch", ends="hang", needs_job=True, weight=0.15,
        verdicts=(says("recorder", "software"),), note="one rank calls the collective with another size",
    ),
    Kind(
        name="hang_no_dump", component="unknown", dumps="no_dump", ends="hang", needs_job=True,
        verdicts=(says("recorder", "unknown", "rank_without_dump"),), note="the rank that all wait for leaves no dump",
    ),
    Kind(
        name="hang_all_joined", component="unknown", dumps="all_joined", ends="hang", needs_job=True,
        verdicts=(says("recorder", "unknown"),), note="all ranks joined and nothing ends: network or GPU, no file tells",
    ),
    Kind(
        name="hang_link", component="switch_or_cable", dumps="all_joined", script="port_flap", ends="hang", needs_job=True,
        weight=0.4, verdicts=(says("kernel", "switch_or_cable"), says("recorder", "unknown", also="switch_or_cable")),
        note="a port flaps under a collective that all have joined",
    ),
    Kind(
        name="hang_storage", component="storage", dumps="never_joined", script="nfs", ends="hang", needs_job=True,
        verdicts=(says("kernel", "storage"), says("recorder", "os", "rank_never_joined")),
        note="the file server does not answer one host, its rank never joins",
    ),
)  # fmt: skip

GPUS = (
    _gpu("off_the_bus", "gpu", "off_the_bus"),
    _gpu("off_the_bus_node", "gpu", "off_the_bus", ends="node", script="off_the_bus", weight=0.5),
    _gpu("pmu_halt", "gpu", "gpu_halt", weight=0.4),
    _gpu("context_switch", "gpu", "", weight=0.3, swap=0.1),
    Kind(
        name="silent_corruption", component="gpu", weight=0.12, ends="exit", needs_job=True, repair_h=24.0, swap=1.0,
        note="wrong results: the program stops at a NaN, and no file tells why",
    ),
    _dead("gpu", 0.1),
    _gpu("hbm_contained", "hbm", "uncorrectable_ecc"),
    _gpu("hbm_uncontained", "hbm", "uncontained_ecc", weight=0.5),
    _gpu("hbm_storm", "hbm", "uncontained_ecc", weight=0.2, swap=1.0),
    _gpu("hbm_remap_failed", "hbm", "", weight=0.3, swap=1.0),
    _gpu("hbm_remapped", "hbm", "row_remap", weight=0.25, ends="none", is_failure=False, repair_h=0.0, swap=0.0),
    _gpu("sram", "gpu_sram", "uncorrectable_ecc"),
    _gpu("sram_uncontained", "gpu_sram", "", weight=0.4),
    _gpu(
        "gsp_timeout", "gsp", "firmware_timeout", ends="hang", dumps="never_joined",
        verdicts=(
            says("kernel", "gsp", "firmware_timeout", device=True), says("recorder", "os", "rank_never_joined", also="gsp"),
        ),
    ),
    _gpu("gsp_error", "gsp", "", weight=0.3),
    _gpu("nvlink", "nvlink", "link_error"),
    _gpu("nvswitch", "nvlink", "", weight=0.5, device=""),
)  # fmt: skip

HOSTS = (
    _host("panic", "os", weight=1.0, repair_h=2.0),
    _host("soft_lockup", "os", weight=0.5, repair_h=2.0),
    _host("node_memory", "os", weight=0.6, ends="abort", repair_h=0.0),
    Kind(
        name="nic_firmware", component="nic", script="nic_firmware", device="nic", repair_h=6.0, swap=0.5,
        verdicts=(says("kernel", "nic", device=True),),
    ),
    Kind(
        name="nic_slot_power", component="nic", script="nic_slot_power", device="nic", repair_h=6.0, weight=0.4,
        verdicts=(says("kernel", "nic", device=True),),
    ),
    _host("port_flap", "switch_or_cable", ends="abort", repair_h=1.0, verdicts=_NETWORK),
    _host("cable", "switch_or_cable", ends="abort", repair_h=3.0, verdicts=_NETWORK),
    _host("leaf_switch", "switch_or_cable", ends="abort", repair_h=2.0, shares="leaf", weight=0.15, verdicts=_NETWORK),
    _host("machine_check", "cpu"),
    _host("machine_check_ghes", "cpu", script="ghes_processor", weight=0.5),
    _dead("cpu", 0.2),
    _host("dimm_machine_check", "host_memory"),
    _host("dimm_edac", "host_memory", ends="abort"),
    _host("pcie_aer", "pcie", ends="abort"),
    _host("pcie_two_gpus", "pcie", ends="abort", weight=0.5),
    _dead("pcie", 0.3),
    _host("nvme", "disk", ends="abort"),
    _host("xfs", "disk", ends="abort", weight=0.5),
    Kind(
        name="psu", component="power", script="psu", ends="node", repair_h=5.0, verdicts=(says("daemon", "power"),),
        note="the BMC's event log tells of a supply just before the node is lost",
    ),
    Kind(
        name="psu_gpus", component="power", script="psu_gpus", ends="abort", repair_h=5.0, weight=0.5,
        verdicts=(says("daemon", "power"), says("kernel", "pcie", also="gpu power")),
        note="a supply fails and GPUs fall off the bus within a minute",
    ),
    Kind(
        name="rack_power", component="power", ends="node", repair_h=4.0, shares="rack", weight=0.3,
        note="a rack loses power at once; no log is left to say so",
    ),
    _host("hot_node", "cooling", repair_h=3.0),
    _host("cooling_loop", "cooling", repair_h=4.0, shares="loop", weight=0.3),
    _host("nfs", "storage", ends="abort", repair_h=0.0),
    _host("lustre", "storage", ends="abort", repair_h=0.0, weight=0.6),
    Kind(
        name="prolog", component="scheduler", ends="launch", needs_job=True, repair_h=1.0,
        verdicts=(says("scheduler", "scheduler"),), note="the prolog cannot be launched; the job never ran",
    ),
    Kind(
        name="taken_by_operator", component="maintenance", ends="taken", repair_h=5.0, needs_job=True,
        verdicts=(says("scheduler", "maintenance"),), note="an operator takes the node out for service in the middle of a job",
    ),
)  # fmt: skip

PROGRAMS = (
    Kind(
        name="page_fault", component="software", script="page_fault", ends="exit", needs_job=True, weight=1.0,
        verdicts=(says("kernel", "software", "program_fault"),),
    ),
    Kind(
        name="exception", component="software", script="exception", ends="exit", needs_job=True, weight=0.7,
        verdicts=(says("kernel", "software", "program_fault"),),
    ),
    Kind(
        name="crash_in_library", component="software", script="segfault", ends="abort", needs_job=True, weight=0.4,
        verdicts=(says("kernel", "software"),),
    ),
)  # fmt: skip

KINDS: tuple[Kind, ...] = (*GPUS, *HOSTS, *PROGRAMS, *HANGS)

# What users do to their own jobs; not in the published table. Weights are shares of these endings.
USERS = (
    Kind(
        name="user_exit", component="software", ends="exit", needs_job=True, weight=0.45, note="a traceback and an exit code",
    ),
    Kind(
        name="user_page_fault", component="software", script="page_fault", ends="exit", needs_job=True, weight=0.15,
        verdicts=(says("kernel", "software", "program_fault"),),
    ),
    Kind(
        name="user_gpu_memory", component="software", ends="exit", needs_job=True, weight=0.2,
        verdicts=(says("job", "software"),), note="the program asks for more GPU memory than there is, and says so",
    ),
    Kind(
        name="user_memory", component="software", script="job_memory", ends="memory", needs_job=True, weight=0.2,
        verdicts=(says("kernel", "software", "out_of_memory"), says("scheduler", "software", "out_of_memory")),
    ),
)  # fmt: skip

WINDOW = Kind(
    name="planned_window", component="maintenance", script="reboot_noise", ends="cancel", repair_h=4.0, shares="rack",
    is_failure=False, is_planned=True, verdicts=(says("plant", "maintenance", "planned_maintenance"),),
    note="a planned window: the noise of a reboot, and perhaps a job that was still there",
)  # fmt: skip
BENIGN = Kind(
    name="helper_fault", component="software", script="page_fault", ends="none", needs_job=True,
    verdicts=(says("kernel", "software", "program_fault"),), note="a helper of the job crashes, the job goes on",
)  # fmt: skip
STOPPED = Kind(
    name="stopped_by_user", component="software", script="program_killed", ends="none", is_failure=False,
    verdicts=(says("kernel", "software", "program_killed"),), note="45 as the user's own scancel ends the program",
)  # fmt: skip

BY_COMPONENT: Mapping[str, tuple[Kind, ...]] = {
    component: tuple(kind for kind in KINDS if kind.component == component)
    for component in dict.fromkeys(kind.component for kind in KINDS)
}


def choose(kinds: tuple[Kind, ...], number: float) -> Kind:
    """The kind at a number in [0, 1) of the sum of weights."""
    left = number * sum(kind.weight for kind in kinds)
    for kind in kinds:
        left -= kind.weight
        if left < 0:
            return kind
    return kinds[-1]


def right(kind: Kind, written: frozenset[str]) -> Verdict | None:
    """What the sources that were written allow; None where none of its own is among them."""
    return next((verdict for verdict in kind.verdicts if verdict.needs <= written), None)
