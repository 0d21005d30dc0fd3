"""Ranks of a training job that enqueue and complete operations on groups, with one planted fault: dumps in torch's layouts.

Hosts enqueue in program order and run ahead by a bounded number of operations. The stream of a rank works strictly in
order: a collective ends when it stands at the head of the streams of all members in one form, a send when its receive
does, a batch of transfers when each of them has. Nothing here knows how a hang is judged: what a fault leads to is written
in the plans (tests/make_hangs.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

NS = 1_760_000_000_000_000_000
TICK_NS = 2_000_000


@dataclass(frozen=True)
class Op:
    """One operation of a rank's program."""

    group: str
    name: str
    sizes: tuple[int, ...] = (4096,)
    peer: int | None = None
    batch: tuple["Op", ...] = ()

    @property
    def is_p2p(self) -> bool:
        return bool(self.transfers)

    @property
    def transfers(self) -> tuple["Op", ...]:
        return self.batch or ((self,) if self.peer is not None else ())


@dataclass(frozen=True)
class Shape:
    """Tensor, pipeline and data parallel sizes: the groups of the job, by name."""

    tp: int
    pp: int
    dp: int

    @property
    def world(self) -> int:
        return self.tp * self.pp * self.dp

    def rank(self, stage: int, replica: int, part: int) -> int:
        return (stage * self.dp + replica) * self.tp + part

    def groups(self) -> dict[str, tuple[str, list[int]]]:
        """Name to description and members."""
        stages, replicas, parts = range(self.pp), range(self.dp), range(self.tp)
        found = {"0": ("default_pg", list(range(self.world)))}
        rows = [("TENSOR_MODEL_PARALLEL_GROUP", [self.rank(s, d, t) for t in parts]) for s, d in product(stages, replicas)]
        rows += [("DATA_PARALLEL_GROUP", [self.rank(s, d, t) for d in replicas]) for s, t in product(stages, parts)]
        rows += [("PIPELINE_MODEL_PARALLEL_GROUP", [self.rank(s, d, t) for s in stages]) for d, t in product(replicas, parts)]
        return found | {str(number): row for number, row in enumerate(rows, 1) if len(row[1]) > 1}


def program(shape: Shape, rank: int, n_steps: int, n_batches: int = 2) -> list[Op]:
    """Forward through the pipeline for each batch, then gradients over the replicas, then the loss over all."""
    mine = {found[0]: (name, found[1]) for name, found in shape.groups().items() if rank in found[1]}
    ops: list[Op] = []
    for _ in range(n_steps):
        for _ in range(n_batches):
            ops += _forward(mine, rank)
        if "DATA_PARALLEL_GROUP" in mine:
            ops.append(Op(mine["DATA_PARALLEL_GROUP"][0], "all_reduce", (1 << 20,)))
        ops.append(Op("0", "all_reduce", (1,)))
    return ops


def _forward(mine: Mapping[str, tuple[str, list[int]]], rank: int) -> list[Op]:
    pipe, stages = mine.get("PIPELINE_MODEL_PARALLEL_GROUP", ("", [rank]))
    tensor = mine.get("TENSOR_MODEL_PARALLEL_GROUP", ("", []))[0]
    stage = stages.index(rank)
    return [
        *([Op(pipe, "recv", (512, 64), stage - 1)] if stage > 0 else []),
        *([Op(tensor, "all_reduce", (4096,)), Op(tensor, "_all_gather_base", (2048,))] if tensor else []),
        *([Op(pipe, "send", (512, 64), stage + 1)] if stage < len(stages) - 1 else []),
    ]


@dataclass
class Entry:
    """An operation that a rank has enqueued."""

    op: Op
    seq: int
    p2p_seq: int
    created_ns: int
    completed_ns: int | None = None
    is_done: bool = False
    left: list[Op] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """What goes wrong. Ranks map to the position in their program from where on it does."""

    stops: Mapping[int, int] = field(default_factory=dict)  # the host enqueues no further
    unseen: Mapping[int, int] = field(default_factory=dict)  # its own completions are not seen any more
    blocked: Mapping[int, int] = field(default_factory=dict)  # its stream starts nothing any more
    broken: tuple[str, int] | None = None  # (group, number): all join, and it never ends


@dataclass
class Job:
    """The streams of all ranks; `run` lets the job go on until nothing moves."""

    shape: Shape
    programs: Mapping[int, Sequence[Op]]
    fault: Fault = field(default_factory=Fault)
    depth: int = 6
    starts_ns: int = NS

    def __post_init__(self) -> None:
        self.groups = self.shape.groups()
        self.streams: dict[int, list[Entry]] = {rank: [] for rank in self.programs}
        self.heads = dict.fromkeys(self.programs, 0)
        self.now_ns = self.starts_ns

    def run(self) -> "Job":
        """Ticks of enqueuing and completing, until neither happens."""
        moved = True
        while moved:
            self.now_ns += TICK_NS
            moved = sum(self._enqueue(rank) for rank in self.programs) + sum(self._complete(rank) for rank in self.programs) > 0
        return self

    def head(self, rank: int) -> Entry | None:
        at = self.heads[rank]
        return self.streams[rank][at] if at < min(len(self.streams[rank]), self.fault.blocked.get(rank, 1 << 60)) else None

    def _enqueue(self, rank: int) -> bool:
        stream, ops = self.streams[rank], self.programs[rank]
        n_open = sum(not entry.is_done for entry in stream)
        if len(stream) >= min(len(ops), self.fault.stops.get(rank, 1 << 60)) or n_open >= self.depth:
            return False
        op = ops[len(stream)]
        before = [entry for entry in stream if entry.op.group == op.group]
        seq = sum(not entry.op.is_p2p for entry in before) + (not op.is_p2p)
        p2p_seq = sum(entry.op.is_p2p for entry in before) + op.is_p2p
        stream.append(Entry(op, seq, p2p_seq, self.now_ns + rank * 1000, left=list(op.transfers)))
        return True

    def _complete(self, rank: int) -> bool:
        entry = self.head(rank)
        if entry is None:
            return False
        members = self.groups[entry.op.group][1]
        if entry.op.is_p2p:
            return sum(self._transfer(rank, transfer, members) for transfer in list(entry.left)) > 0
        if not self._is_met(entry, members):
            return False
        for member in members:
            self._end_head(member)
        return True

    def _transfer(self, rank: int, transfer: Op, members: Sequence[int]) -> bool:
        """One transfer of the rank's head, where its other half stands at the head of the peer."""
        peer = members[transfer.peer or 0]
        there, other = self.head(peer), {"send": "recv", "recv": "send"}[transfer.name]
        wanted = replace(transfer, name=other, peer=members.index(rank))
        if there is None or wanted not in there.left:
            return False
        for one, half in ((rank, transfer), (peer, wanted)):
            left = self.streams[one][self.heads[one]].left
            left.remove(half)
            if not left:
                self._end_head(one)
        return True

    def _end_head(self, rank: int) -> None:
        if self.heads[rank] < self.fault.unseen.get(rank, 1 << 60):
            entry = self.streams[rank][self.heads[rank]]
            entry.is_done, entry.completed_ns = True, self.now_ns + TICK_NS // 2
        self.heads[rank] += 1

    def _is_met(self, entry: Entry, members: Sequence[int]) -> bool:
        heads = [self.head(member) for member in members]
        if (entry.op.group, entry.seq) == self.fault.broken:
            return False
        return all(each is not None and (each.op, each.seq) == (entry.op, entry.seq) for each in heads)


def dump(job: Job, rank: int, *, ring: int = 2000, timing: bool = False, active: bool = False) -> dict[str, object]:
    """The rank's dump in layout 2.10."""
    mine = {name: found for name, found in job.groups.items() if rank in found[1]}
    local = {name: number for number, name in enumerate(mine)}
    made = [each for at in range(len(job.streams[rank])) for each in _entries(job, rank, at, local, timing=timing)]
    for number, entry in enumerate(made):
        entry |= {"record_id": number + 100 * rank, "op_id": number}
    entries = [entry for entry in made[-ring:] if not (active and entry["state"] == "completed")]
    return {
        "version": "2.10",
        "pg_config": {name: {"name": name, "desc": desc, "ranks": str(members)} for name, (desc, members) in mine.items()},
        "comm_lib_version": "2.27.5",
        "pg_status": {str(local[name]): _status(job.streams[rank], name, timing=timing) for name in mine},
        "entries": entries,
    }


def _entries(job: Job, rank: int, at: int, local: Mapping[str, int], *, timing: bool) -> list[dict[str, object]]:
    """One operation; of a batch each transfer, which stays as it was enqueued, and the entry that ends the batch."""
    entry = job.streams[rank][at]
    is_started = timing and at == job.heads[rank] and not entry.is_done and job.head(rank) is not None
    made = [_entry(job, rank, entry, op, local) for op in (*entry.op.batch, entry.op)]
    made[-1] |= {
        "state": "completed" if entry.is_done else "started" if is_started else "scheduled",
        "time_discovered_started_ns": entry.created_ns + 1000 if is_started else None,
        "time_discovered_completed_ns": entry.completed_ns,
        "retired": entry.is_done,
    }
    return made


def _entry(job: Job, rank: int, entry: Entry, op: Op, local: Mapping[str, int]) -> dict[str, object]:
    """An entry as it is enqueued."""
    desc, members = job.groups[entry.op.group]
    arrow = {"send": "->", "recv": "<-"}.get(op.name)
    name = f"{op.name} {members.index(rank)}{arrow}{op.peer}" if arrow else op.name
    sizes = [] if op.batch else [list(op.sizes)]
    dtypes = ["BFloat16"][: len(sizes)]
    return {
        "record_id": 0,
        "pg_id": local[entry.op.group],
        "process_group": (entry.op.group, desc),
        "collective_seq_id": entry.seq,
        "p2p_seq_id": entry.p2p_seq,
        "op_id": 0,
        "profiling_name": f"nccl:{name}",
        "time_created_ns": entry.created_ns,
        "input_sizes": sizes,
        "input_dtypes": dtypes,
        "output_sizes": sizes,
        "output_dtypes": dtypes,
        "state": "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
        "retired": False,
        "timeout_ms": 600_000,
        "is_p2p": entry.op.is_p2p,
        "thread_id": "139",
        "thread_name": "pt_main_thread",
        "frames": [{"name": "step", "filename": "/opt/train/loop.py", "line": 40}],
    }


def _status(stream: Sequence[Entry], group: str, *, timing: bool) -> dict[str, int]:
    """The watermarks: the number of the last operation of whichever kind."""
    numbers = [(entry.p2p_seq if entry.op.is_p2p else entry.seq, entry.is_done) for entry in stream if entry.op.group == group]
    done = [number for number, is_done in numbers if is_done]
    enqueued, completed = numbers[-1][0] if numbers else -1, done[-1] if done else -1
    started = enqueued if timing else -1
    return {
        "last_enqueued_collective": enqueued,
        "last_started_collective": started,
        "last_completed_collective": completed,
    }
