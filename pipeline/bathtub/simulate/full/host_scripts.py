"""What kernels and daemons print of a host's own faults, as Linux 5.14 with mlx5, NVMe, XFS, NFS and Lustre words them."""

from bathtub.simulate.full.gpu_scripts import CHANNEL, GONE, GPU_SCRIPTS, Say

_HW = "mce: [Hardware Error]: "
_AFTER = (Say(xid=45, text=CHANNEL, after_s=4.0, times=2, gap_s=(0.02, 0.4), on="all", share=0.5),)
_REPORT = "{{{tiny}}}[Hardware Error]: "

HOST_SCRIPTS: dict[str, tuple[Say, ...]] = {
    "panic": (
        Say(text="BUG: unable to handle page fault for address: ffffb0{channel:010x}"),
        Say(text="#PF: supervisor read access in kernel mode", after_s=0.001),
        Say(text="Oops: 0000 [#1] PREEMPT SMP NOPTI", after_s=0.002),
        Say(text="Kernel panic - not syncing: Fatal exception", after_s=0.4),
    ),
    "soft_lockup": (
        Say(text="watchdog: BUG: soft lockup - CPU#{cpu} stuck for {secs}s! [kworker/{cpu}:1:{pid}]", times=6,
            gap_s=(24.0, 28.0)),
        Say(text="rcu: INFO: rcu_preempt self-detected stall on CPU", after_s=50.0),
        Say(text="INFO: task python3:{pid} blocked for more than 120 seconds.", after_s=125.0),
    ),
    "node_memory": (
        Say(text="python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0"),
        Say(text="oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/system.slice,"
            "task=python3,pid={pid},uid=5002", after_s=0.3),
        Say(text="Out of memory: Killed process {pid} (python3) total-vm:1883423612kB, anon-rss:1601223612kB, file-rss:0kB",
            after_s=0.31),
        Say(text="oom_reaper: reaped process {pid} (python3), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB", after_s=2.0),
    ),
    "job_memory": (
        Say(text="python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"),
        Say(text="oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_0,mems_allowed=0-1,oom_memcg=/slurm/uid_5002/job,"
            "task_memcg=/slurm/uid_5002/job/step_0,task=python3,pid={pid},uid=5002", after_s=0.1),
        Say(text="Memory cgroup out of memory: Killed process {pid} (python3) total-vm:2011423612kB, anon-rss:1901423612kB",
            after_s=0.2),
    ),
    "segfault": (
        Say(text="python3[{pid}]: segfault at 8 ip 00007f{channel:010x} sp 00007ffd{channel:08x} error 4 in "
            "libnccl.so.2.27.5[7f{channel:08x}00+11000000]"),
        Say(xid=45, text=CHANNEL, after_s=1.2, times=2, gap_s=(0.02, 0.3)),
    ),
    "nic_firmware": (
        Say(text="mlx5_core {nic}.0: poll_health:{secs}:(pid 0): Fatal error 1 detected"),
        Say(text="mlx5_core {nic}.0: print_health_info:431:(pid 0): Health issue observed, firmware internal error, severity(3) "
            "ERROR:", after_s=0.01),
        Say(text="mlx5_core {nic}.0: mlx5_error_sw_reset:231:(pid {pid}): start", after_s=0.2),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN", after_s=0.6),
    ),
    "nic_slot_power": (
        Say(text="mlx5_core {nic}.0: mlx5_pcie_event:301:(pid {pid}): Detected insufficient power on the PCIe slot (27W)."),
        Say(text="mlx5_core {nic}.0: mlx5_pcie_event:301:(pid {pid}): Detected insufficient power on the PCIe slot (27W).",
            after_s=2.0),
    ),
    "port_flap": (
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN"),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link ACTIVE", after_s=6.0),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN", after_s=19.0),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link ACTIVE", after_s=1900.0),
    ),
    "cable": (
        Say(text="mlx5_core {nic}.0: Port module event[error]: module {tiny}, Cable error, Bus stuck (I2C or data shorted)"),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN", after_s=0.3),
    ),
    "leaf_switch": (
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link DOWN"),
        Say(text="ib{tiny}: lost carrier", after_s=0.4, share=0.3),
        Say(text="mlx5_core {nic}.0 {hca}: Port: 1 Link ACTIVE", after_s=1500.0),
    ),
    "machine_check": (
        Say(text=_HW + "CPU {cpu}: Machine Check Exception: 5 Bank 3: be00000000800400"),
        Say(text=_HW + "TSC 1d2{channel:012x} ADDR {wide:x} MISC 86", after_s=0.001),
        Say(text=_HW + "PROCESSOR 0:806f8 TIME 1772400000 SOCKET 0 APIC 4 microcode 2b000590", after_s=0.002),
        Say(text="Kernel panic - not syncing: Fatal machine check", after_s=0.3),
    ),
    "ghes_processor": (
        Say(text=_REPORT + "Hardware error from APEI Generic Hardware Error Source: 4"),
        Say(text=_REPORT + "event severity: fatal", after_s=0.001),
        Say(text=_REPORT + " Error 0, type: fatal", after_s=0.002),
        Say(text=_REPORT + "  section_type: IA32/X64 processor error", after_s=0.003),
    ),
    "dimm_machine_check": (
        Say(text="EDAC MC{tiny}: 1 UE memory read error on CPU_SrcID#0_MC#{tiny}_Chan#1_DIMM#0 (channel:1 slot:0 "
            "page:0x{channel:x} offset:0x40 grain:32)"),
        Say(text="Kernel panic - not syncing: EDAC MC{tiny}: uncorrected error", after_s=0.2),
    ),
    "dimm_edac": (
        Say(text="EDAC MC{tiny}: 1 UE memory scrubbing error on CPU_SrcID#1_MC#{tiny}_Chan#0_DIMM#1 (channel:0 slot:1 "
            "page:0x{channel:x} offset:0x0 grain:32)"),
        Say(text="Memory failure: 0x{channel:x}: Sending SIGBUS to python3:{pid} due to hardware memory corruption", after_s=0.1),
        Say(text="Memory failure: 0x{channel:x}: recovery action for dirty LRU page: Recovered", after_s=0.2),
    ),
    "pcie_aer": (
        Say(text="pcieport {port}: AER: Uncorrected (Fatal) error received: {bdf}.0"),
        Say(text="nvidia {bdf}.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
            after_s=0.001),
        Say(text="nvidia {bdf}.0:   device [10de:2330] error status/mask=00040000/00000000", after_s=0.002),
        Say(text="nvidia {bdf}.0:    [18] MalfTLP                (First)", after_s=0.003),
        Say(text="pcieport {port}: DPC: containment event, status:0x1f01 source:0x0000", after_s=0.1, share=0.5),
        Say(xid=79, text=GONE, after_s=1.2, process="unknown"), *_AFTER,
    ),
    "pcie_two_gpus": (
        Say(xid=79, text=GONE, process="unknown"), Say(xid=79, text=GONE, after_s=0.7, on="next", process="unknown"), *_AFTER,
    ),
    "nvme": (
        Say(text="nvme nvme{tiny}: I/O {cpu} QID 3 timeout, reset controller", times=2, gap_s=(30.0, 31.0)),
        Say(text="nvme nvme{tiny}: Disabling device after reset failure: -19", after_s=62.0),
        Say(text="blk_update_request: I/O error, dev nvme{tiny}n1, sector {pid} op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 0",
            after_s=62.1, times=3),
    ),
    "xfs": (
        Say(text="blk_update_request: I/O error, dev nvme{tiny}n1, sector {pid} op 0x1:(WRITE) flags 0x1000 phys_seg 4 "
            "prio class 0"),
        Say(text="XFS (nvme{tiny}n1p1): log I/O error -5", after_s=0.2),
        Say(text="XFS (nvme{tiny}n1p1): Log I/O Error (0x2) detected at xlog_ioend_work+0x75/0x80 [xfs]. "
            "Shutting down filesystem.", after_s=0.21),
    ),
    "psu": (
        Say(text="Power Supply sensor PS{tiny} Status - Failure detected Asserted", emitter="ipmievd"),
        Say(text="Power Supply sensor PS{link} Status - Power Supply AC lost Asserted", after_s=3.0, emitter="ipmievd"),
    ),
    "psu_gpus": (
        Say(text="Power Supply sensor PS{tiny} Status - Failure detected Asserted", emitter="ipmievd"),
        Say(xid=79, text=GONE, after_s=9.0, process="unknown", on="all", times=1, gap_s=(0.01, 0.02)), *_AFTER,
    ),
    "hot_node": (
        Say(text="CPU{cpu}: Core temperature above threshold, cpu clock throttled (total events = {secs})", times=3,
            gap_s=(4.0, 9.0)),
        Say(text="thermal thermal_zone0: critical temperature reached, shutting down", after_s=40.0),
    ),
    "cooling_loop": (
        Say(text="CPU{cpu}: Core temperature above threshold, cpu clock throttled (total events = {secs})"),
        Say(text="thermal thermal_zone0: critical temperature reached, shutting down", after_s=30.0),
    ),
    "nfs": (
        Say(text="nfs: server 10.20.1.{tiny} not responding, still trying", times=2, gap_s=(20.0, 40.0)),
        Say(text="nfs: server 10.20.1.{tiny} OK", after_s=1500.0),
    ),
    "lustre": (
        Say(text="LustreError: 11-0: scratch-OST000{tiny}-osc-ffff9a{channel:06x}: operation ost_write to node 10.20.2.9@o2ib "
            "failed: rc = -107"),
        Say(text="Lustre: scratch-OST000{tiny}-osc-ffff9a{channel:06x}: Connection to scratch-OST000{tiny} (at 10.20.2.9@o2ib) "
            "was lost; in progress operations using this service will wait for recovery to complete", after_s=0.01),
        Say(text="Lustre: scratch-OST000{tiny}-osc-ffff9a{channel:06x}: Connection restored to 10.20.2.9@o2ib "
            "(at 10.20.2.9@o2ib)", after_s=900.0),
    ),
}  # fmt: skip

SCRIPTS: dict[str, tuple[Say, ...]] = GPU_SCRIPTS | HOST_SCRIPTS
