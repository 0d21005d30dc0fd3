"""How a job's ranks end, in their own words."""

from collections.abc import Iterator, Mapping

from bathtub.simulate.full.dumps import FIRST_SEQ, N_STEPS, TIMEOUT_MS, culprit
from bathtub.simulate.full.events import Attempt, Event
from bathtub.simulate.full.settings import GPUS_PER_NODE, Settings, local
from bathtub.simulate.full.topology import Fleet

_ENDED = "[PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog thread terminated with exception: "
_STEP = "slurmstepd: error: *** STEP {job_id}.0 ON {first} CANCELLED AT {ended}"

_RETRIES = (
    "{peer}:20000:20044 [{slot}] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.20.4.{low}<48211> "
    "with status=12 opcode=1 len=0 vendor err 129 (Send) localGid ::ffff:10.20.8.{high} remoteGids::ffff:10.20.8.{low} "
    "hca mlx5_{slot}"
)
_GPU_MEMORY = (
    "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU {slot} has a total capacity "
    "of 79.11 GiB of which 1.07 GiB is free."
)
_TIMED_OUT = (
    "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:683] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=4194304, NumelOut=4194304, Timeout(ms)={timeout}) ran for {ran} "
    "milliseconds before timing out."
)
_WATERMARK = (
    "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by watchdog "
    "at work sequence id: {seq} PG status: last enqueued work: {seq}, last completed work: {done}"
)

# kind, "component:" its component, "ends:" its ending and device, "state:" the attempt's state -> lines
WORDS: Mapping[str, tuple[str, ...]] = {
    "ends:abort:gpu": (
        "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:1895] " + _ENDED + "CUDA error: unspecified launch failure",
    ),
    "ends:abort:": (
        "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:2021] " + _ENDED
        + "NCCL error: remote process exited or there was a network error",
    ),
    "component:switch_or_cable": (_RETRIES,),
    "user_gpu_memory": (_GPU_MEMORY,),
    "user_exit": (
        "Traceback (most recent call last):", '  File "/opt/train/main.py", line 41, in <module>', "KeyError: 'train_files'",
    ),
    "silent_corruption": ("{host}: loss is nan, stopping",),
    "state:NODE_FAIL": (_STEP + " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",),
    "state:CANCELLED": (_STEP + " ***",),
}  # fmt: skip


def last_words(settings: Settings, fleet: Fleet, attempt: Attempt, max_listed: int) -> Iterator[str]:
    """What an attempt prints as it ends; waiters of a hang only where its ranks are listed."""
    event = attempt.ended_by
    assert event is not None
    names = _names(fleet, attempt, event)
    if event.kind.ends == "hang" and len(attempt.nodes) <= max_listed:
        yield from _hang(settings, attempt, event, str(names["stamp"]))
    kind, is_alone = event.kind, len(attempt.nodes) == 1
    device = "gpu" if kind.device == "gpu" or kind.name.startswith("pcie") else ""
    ends = f"ends:{kind.ends}:{device}"
    for key in (ends, f"component:{kind.component}", kind.name, f"state:{attempt.state.split()[0]}"):
        if key in WORDS and not (is_alone and key.startswith("component:")):
            yield from (text.format(**names) for text in WORDS[key])


def _names(fleet: Fleet, attempt: Attempt, event: Event) -> dict[str, object]:
    node = event.node if event.node in attempt.nodes else attempt.nodes[0]
    peer = attempt.nodes[0] if node != attempt.nodes[0] else attempt.nodes[-1]
    return {
        "stamp": _stamp(attempt), "rank": attempt.nodes.index(node) * GPUS_PER_NODE + event.device, "slot": event.device,
        "host": fleet.nodes[node].name, "peer": fleet.nodes[peer].name, "low": node % 250 + 1, "high": peer % 250 + 1,
        "first": fleet.nodes[attempt.nodes[0]].name, "job_id": attempt.job_id,
        "ended": f"{local(attempt.ended_s):%Y-%m-%dT%H:%M:%S}",
    }  # fmt: skip


def _stamp(attempt: Attempt) -> str:
    """Month and day of two digits without a leading zero, and a time: as glog prints it."""
    return f"{local(attempt.ended_s - 1):%m%d %H:%M:%S}.412000000".removeprefix("0")


def _hang(settings: Settings, attempt: Attempt, event: Event, stamp: str) -> Iterator[str]:
    """The watchdogs of some waiters. Who did not come prints nothing."""
    seq, chance = FIRST_SEQ + N_STEPS - 1, settings.rng("output", attempt.job_id, 1)
    waiters = [rank for rank in range(attempt.world) if rank != culprit(event)]
    for rank in sorted(chance.choice(waiters, size=min(6, len(waiters)), replace=False).tolist()):
        ran = TIMEOUT_MS + int(chance.integers(5, 90))
        names = {"rank": rank, "stamp": stamp, "seq": seq, "done": seq - 1, "timeout": TIMEOUT_MS, "ran": ran}
        yield from (text.format(**names) for text in (_TIMED_OUT, _WATERMARK))
