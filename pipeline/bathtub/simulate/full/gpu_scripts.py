"""What the GPU driver prints: a script of lines for each kind of fault, as drivers of R560 to R580 word them."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Say:
    """One kind of line in a script: `times` lines from `after_s` on, `gap_s` (from, to) seconds apart.

    With `xid` it is a fault line of the GPUs `on` which it is said, and `process` says whom the driver names. Without, the
    text stands by itself. `is_sure` lines come always, others in `share` of the cases.
    """

    text: str
    xid: int | None = None
    after_s: float = 0.0
    times: int = 1
    gap_s: tuple[float, float] = (0.001, 0.002)
    on: Literal["device", "peers", "all", "next"] = "device"
    process: Literal["program", "unknown", "none"] = "program"
    emitter: str = "kernel"
    share: float = 1.0


CHANNEL = "Ch {channel:08x}"
GONE = "GPU has fallen off the bus."
_CHANGED = "GPU recovery action changed from 0x0 (None) to "
RESET, REBOOT = _CHANGED + "0x1 (GPU Reset Required)", _CHANGED + "0x2 (Node Reboot Required)"
_DBE = "An uncorrectable double bit error (DBE) has been detected on GPU in the "
_REMAPPED = "Row Remapper: New row (0x{wide:016x}) marked for remapping, reset gpu to activate."
_RPC = "Timeout after 6s of waiting for RPC response from GPU{index} GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x4)."
_NVSWITCH = "nvidia-nvswitch{tiny}: SXid (PCI:{switch}.0): "


def _storm(after_s: float, times: int = 4) -> tuple[Say, ...]:
    """45 of the programs that go down with the job."""
    return (Say(xid=45, text=CHANNEL, after_s=after_s, times=times, gap_s=(0.02, 0.4), on="all"),)


def _action(text: str, after_s: float) -> Say:
    return Say(xid=154, text=text, after_s=after_s, process="none", share=0.7)


_PEERS = (
    Say(text=_NVSWITCH + "20034, Fatal, Link {link} LTSSM Fault Up", after_s=1.2, share=0.6),
    Say(text=_NVSWITCH + "20034, Severity 1 Engine instance {link} Sub-engine instance 00", after_s=1.201, share=0.6),
    Say(xid=74, text="NVLink: fatal error detected on link {tiny}(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)", after_s=1.6,
        on="next", process="unknown", share=0.5),
)  # fmt: skip

GPU_SCRIPTS: dict[str, tuple[Say, ...]] = {
    "off_the_bus": (
        Say(xid=79, text=GONE, process="unknown"),
        Say(text="NVRM: GPU {bdf}.0: " + GONE, after_s=0.01),
        Say(text="NVRM: A GPU crash dump has been created. If possible, please run", after_s=0.02),
        Say(text="NVRM: nvidia-bug-report.sh as root to collect this data before", after_s=0.021),
        Say(text="NVRM: the NVIDIA kernel module is unloaded.", after_s=0.022),
        *_PEERS, *_storm(2.4), _action(REBOOT, 7.0),
    ),
    "pmu_halt": (Say(xid=62, text="{channel:08x}(2d4a) 00000000 00000000", process="unknown"), *_storm(1.4), _action(RESET, 6.0)),
    "context_switch": (
        Say(xid=109, text=CHANNEL + ", errorString CTX SWITCH TIMEOUT, Info 0x{wide:x}"), *_storm(2.0), _action(RESET, 6.5),
    ),
    "hbm_contained": (
        Say(xid=48, text=_DBE + "framebuffer at physAddr 0x{wide:x} partition {tiny}, subpartition 1."),
        Say(xid=63, text=_REMAPPED, after_s=0.4),
        Say(xid=94, text="Contained: CE User Channel (0x9). RST: No, D-RST: No", after_s=0.9),
        *_storm(1.5, 16), _action(RESET, 7.0),
    ),
    "hbm_uncontained": (
        Say(xid=48, text=_DBE + "framebuffer at physAddr 0x{wide:x} partition {tiny}, subpartition 0.", share=0.6),
        Say(xid=95, text="Uncontained: LTC TAG (0x2,0x{tiny:x}). RST: Yes, D-RST: No", after_s=0.3, process="unknown"),
        Say(xid=63, text=_REMAPPED, after_s=0.8, process="unknown"),
        *_storm(1.8), _action(RESET, 5.0),
    ),
    "hbm_storm": (
        Say(xid=95, text="Uncontained: FBHUB. RST: Yes, D-RST: No", times=1200, gap_s=(0.02, 0.3), process="unknown"),
        Say(xid=63, text=_REMAPPED, after_s=0.7, process="unknown"), *_storm(20.0),
    ),
    "hbm_remap_failed": (
        Say(xid=48, text=_DBE + "framebuffer at physAddr 0x{wide:x} partition {tiny}, subpartition 0."),
        Say(xid=64, text="Row Remapper Error: (0x{wide:016x}) - All reserved rows for bank are remapped", after_s=0.5),
        *_storm(1.6), _action(RESET, 7.5),
    ),
    "hbm_remapped": (Say(xid=63, text=_REMAPPED, process="unknown"),),
    "sram": (
        Say(xid=48, text=_DBE + "L2 SRAM of partition {tiny}, slice 3."),
        Say(xid=172, text="L2, Uncorrectable SRAM error", after_s=0.3, process="none"), *_storm(1.1), _action(RESET, 6.0),
    ),
    "sram_uncontained": (
        Say(xid=95, text="Uncontained: SM (0x1). RST: Yes, D-RST: No", process="unknown"),
        Say(xid=172, text="SM, Uncorrectable SRAM error", after_s=0.4, process="none"), *_storm(1.4), _action(RESET, 6.0),
    ),
    "gsp_timeout": (
        Say(xid=119, text=_RPC, times=14, gap_s=(6.0, 40.0)),
        Say(text="NVRM: GPU{index} GSP RPC buffer contains function 76 (GSP_RM_CONTROL) and data 0x20802a02 0x4.", after_s=0.02),
        Say(text="NVRM: GPU{index} RPC history (CPU -> GSP):", after_s=0.03),
        Say(text="NVRM:     entry function                   data0              data1", after_s=0.04),
        Say(text="NVRM:      0    76   GSP_RM_CONTROL     0x0000000020802a02 0x0000000000000004", after_s=0.05),
    ),
    "gsp_error": (
        Say(xid=120, text="GSP task exception: load access fault (0x5) (cause:0x5) @ pc:0x{wide:x}, task: 1", process="unknown"),
        Say(xid=119, text=_RPC, after_s=8.0, times=3, gap_s=(6.0, 9.0)), *_storm(30.0), _action(RESET, 31.0),
    ),
    "nvlink": (
        Say(xid=74, text="NVLink: fatal error detected on link {tiny}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", process="unknown"),
        *_storm(3.0), _action(RESET, 5.0),
    ),
    "nvswitch": (
        Say(text=_NVSWITCH + "24007, Fatal, Link {link} sourcetrack timeout error (First)"),
        Say(text=_NVSWITCH + "24007, Severity 1 Engine instance {link} Sub-engine instance 00", after_s=0.001),
        Say(text=_NVSWITCH + "24007, Data {{0x{channel:08x}, 0x00000001, 0x00000000, 0x{wide:08x}}}", after_s=0.002),
        Say(xid=74, text="NVLink: fatal error detected on link {tiny}(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)", after_s=0.8,
            on="all", process="unknown"), *_storm(3.0),
    ),
    "page_fault": (
        Say(xid=31, text="Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_{tiny} faulted @ "
            "0x7f3a_{channel:08x}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"),
        Say(xid=43, text="Ch 00000010", after_s=0.8),
    ),
    "exception": (
        Say(xid=13, text="Graphics SM Warp Exception on (GPC {tiny}, TPC {number}, SM 1): Out Of Range Address", times=6,
            gap_s=(0.01, 0.05)),
        Say(xid=13, text="Graphics Exception: ESR 0x{channel:x}=0x{tiny:x}0f0009 0x{channel:x}=0x24 0x{channel:x}=0xc12b60",
            after_s=0.006, times=6, gap_s=(0.01, 0.05)),
        Say(xid=43, text="Ch 00000012", after_s=1.1),
    ),
    "program_killed": (Say(xid=45, text=CHANNEL, times=2, gap_s=(0.02, 0.1), on="all"),),
    "reboot_noise": (
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN", after_s=0.2),
        Say(xid=79, text=GONE, after_s=2.0, process="unknown", on="all", share=0.4),
        Say(xid=154, text=REBOOT, after_s=4.0, process="none", on="all", share=0.4),
        Say(text=_NVSWITCH + "22013, Non-fatal, Link {link} Minion Link DLREQ interrupt", after_s=3.0, share=0.5),
        Say(text="reboot: Restarting system", after_s=25.0),
    ),
}  # fmt: skip
