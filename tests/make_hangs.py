"""The plans of tests/hang: `python -m tests.make_hangs` writes each scenario's dumps and what is right about them.

What is right follows from the plan alone: who was made to stop, to differ, to lose its file.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.make_dumps import as_json, torch_pickle
from tests.simulate_ranks import NS, Fault, Job, Op, Shape, dump, program

FOLDER = Path(__file__).parent / "hang"
GRID, WIDE, DEEP, FLAT, LINE = Shape(2, 2, 2), Shape(4, 1, 2), Shape(2, 4, 2), Shape(2, 1, 4), Shape(1, 4, 1)
CLASSES = {
    "never_joined": "host", "op_mismatch": "software", "sequence_shift": "software", "order_cycle": "software",
    "completion_stuck": "gpu", "none": "none",
}  # fmt: skip

Files = dict[str, bytes]


def job(shape: Shape, fault: Fault | None = None, changes: Mapping[int, Callable[[list[Op]], list[Op]]] | None = None, **more):
    """The job run until nothing moves; `changes` are to the programs of ranks."""
    programs = {rank: program(shape, rank, 4) for rank in range(shape.world)}
    programs |= {rank: change(programs[rank]) for rank, change in (changes or {}).items()}
    return Job(shape, programs, fault or Fault(), **more).run()


def at(shape: Shape, rank: int, group: str, nth: int) -> int:
    """Where in a rank's program its nth operation (from 1) on the group of that description stands."""
    described = {name: desc for name, (desc, _) in shape.groups().items()}
    found = [index for index, op in enumerate(program(shape, rank, 4)) if described[op.group].startswith(group)]
    return found[nth - 1]


def files(done: Job, ranks: Iterable[int] | None = None, *, form: str = "pickle", **how) -> Files:
    """One file a rank, compressed: half of the size of the repository otherwise."""
    chosen = range(done.shape.world) if ranks is None else ranks
    found = {}
    for rank in chosen:
        made = dump(done, rank, **how)
        content = as_json(made) if form == "json" else torch_pickle(made)
        found[f"nccl_trace_rank_{rank}{'.json' if form == 'json' else ''}.gz"] = gzip.compress(content, mtime=0)
    return found


def right(finding: str, culprits: Iterable[int] = (), **more: object) -> dict[str, object]:
    """The contents of expect.json. `may_name`: weaker suspects that are acceptable."""
    row = {"finding": finding, "class": CLASSES.get(finding, "unknown"), "culprits": sorted(culprits), "may_name": []}
    return row | more


def skipped(where: int) -> Callable[[list[Op]], list[Op]]:
    return lambda ops: ops[:where] + ops[where + 1 :]


def exchanged(where: int) -> Callable[[list[Op]], list[Op]]:
    return lambda ops: [*ops[:where], ops[where + 1], ops[where], *ops[where + 2 :]]


def put(where: int, op: Callable[[Op], Op]) -> Callable[[list[Op]], list[Op]]:
    return lambda ops: [*ops[:where], op(ops[where]), *ops[where + 1 :]]


def without(ranks: Iterable[int], shape: Shape) -> list[int]:
    return sorted(set(range(shape.world)) - set(ranks))


def stopped(shape: Shape, *ranks: int, nth: int = 5, **more) -> Job:
    """These hosts stop before their nth operation on their tensor group."""
    return job(shape, Fault(stops={rank: at(shape, rank, "TENSOR", nth) for rank in ranks}), **more)


def scenarios() -> dict[str, tuple[Files, dict[str, object]]]:
    """Name to files and what is right."""
    return {**_hosts(), **_programs(), **_transfers(), **_devices(), **_collections()}


def _hosts() -> dict[str, tuple[Files, dict[str, object]]]:
    late = job(GRID)
    return {
        "a_host_stops": (files(stopped(GRID, 5)), right("never_joined", [5])),
        "two_hosts_stop": (files(stopped(GRID, 0, 3)), right("never_joined", [0, 3])),
        "a_stall_runs_down_the_pipeline": (files(stopped(DEEP, 2)), right("never_joined", [2])),
        "a_straggler_before_it_comes": (files(stopped(WIDE, 6, nth=9)), right("never_joined", [6])),
        "a_straggler_after_it_came": (files(late), right("none")),
        "active_entries_only": (files(stopped(GRID, 4), active=True), right("never_joined", [4])),
        "json_with_timing": (files(stopped(GRID, 1), form="json", timing=True), right("never_joined", [1])),
    }


def _programs() -> dict[str, tuple[Files, dict[str, object]]]:
    tensor, data = at(WIDE, 2, "TENSOR", 7), at(FLAT, 3, "DATA", 3)
    size = put(data, lambda op: Op(op.group, op.name, (1 << 19,)))
    kind = put(tensor, lambda op: Op(op.group, "broadcast", op.sizes))
    return {
        "another_size": (files(job(FLAT, changes={3: size})), right("op_mismatch", [3], seq=3)),
        "another_operation": (files(job(WIDE, changes={2: kind})), right("op_mismatch", [2], seq=7)),
        "an_operation_skipped": (files(job(WIDE, changes={2: skipped(tensor)})), right("op_mismatch", [2], seq=7)),
        "an_operation_skipped_of_two_ranks": (
            files(job(FLAT, changes={2: skipped(at(FLAT, 2, "TENSOR", 7))})),
            right("sequence_shift", [2], seq=7),
        ),
        "groups_in_another_order": (files(job(FLAT, changes={3: exchanged(data)})), right("order_cycle", [3])),
    }


def batched(ops: list[Op]) -> list[Op]:
    """A send and the receive behind it as one batch: the steady state of a pipeline."""
    found: list[Op] = []
    for op in ops:
        if op.name == "recv" and found and found[-1].name == "send":
            found[-1] = Op(op.group, "coalesced", batch=(found[-1], op))
        else:
            found.append(op)
    return found


def _transfers() -> dict[str, tuple[Files, dict[str, object]]]:
    """Rank 5 is in the second stage of four: of 4 steps of 2 messages each it stops, or miscounts, in the third."""
    send, receive, awaited = at(DEEP, 5, "PIPELINE", 12), at(DEEP, 5, "PIPELINE", 11), at(DEEP, 9, "PIPELINE", 11)
    batches = dict.fromkeys(range(DEEP.world), batched)
    third = [index for index, op in enumerate(batched(program(DEEP, 5, 4))) if op.batch][2]

    def half(ops: list[Op], kept: slice) -> list[Op]:
        return put(third, lambda op: Op(op.group, op.name, batch=op.batch[kept]))(ops)

    ring = {rank: [Op("9", "send", peer=(rank + 1) % 4), Op("9", "recv", peer=(rank - 1) % 4)] for rank in range(4)}
    return {
        "a_stage_stops_before_it_sends": (files(job(DEEP, Fault(stops={5: send}))), right("never_joined", [5])),
        "a_stage_stops_before_it_receives": (files(job(DEEP, Fault(stops={5: receive}))), right("never_joined", [5])),
        "a_stage_stops_before_a_batch": (files(job(DEEP, Fault(stops={5: third}), batches)), right("never_joined", [5])),
        "batches_that_all_end": (files(job(DEEP, None, batches)), right("none")),
        "a_message_is_not_sent": (files(job(DEEP, changes={5: skipped(send)})), right("sequence_shift", [5])),
        "a_message_is_not_received": (files(job(DEEP, changes={5: skipped(receive)})), right("sequence_shift", [5])),
        "a_message_is_sent_twice": (
            files(job(DEEP, changes={5: lambda ops: [*ops[:send], ops[send], *ops[send:]]})),
            right("sequence_shift", [5]),
        ),
        "a_message_is_awaited_that_nobody_sends": (
            files(job(DEEP, changes={9: lambda ops: [*ops[:awaited], ops[awaited], *ops[awaited:]]})),
            right("sequence_shift", [9]),
        ),
        "a_batch_without_its_receive": (
            files(job(DEEP, changes={**batches, 5: lambda ops: half(batched(ops), slice(1))})),
            right("sequence_shift", [5]),
        ),
        "a_batch_without_its_send": (
            files(job(DEEP, changes={**batches, 5: lambda ops: half(batched(ops), slice(1, 2))})),
            right("sequence_shift", [5]),
        ),
        "a_ring_in_which_all_send_first": (files(Job(LINE, ring).run()), right("order_cycle", may_name=[0, 1, 2, 3])),
    }


def _devices() -> dict[str, tuple[Files, dict[str, object]]]:
    unseen = Fault(unseen={5: at(WIDE, 5, "TENSOR", 6)})
    blocked = Fault(blocked={2: at(WIDE, 2, "TENSOR", 6)})
    tensor = next(name for name, (_, members) in GRID.groups().items() if members == [6, 7])
    return {
        "a_gpu_that_is_not_seen": (files(job(WIDE, unseen)), right("completion_stuck", [5])),
        "a_stream_that_starts_nothing": (files(job(WIDE, blocked), timing=True), right("completion_stuck", [2])),
        "a_link_fails_when_all_have_joined": (files(job(GRID, Fault(broken=(tensor, 6)))), right("all_joined", seq=6)),
    }


def _collections() -> dict[str, tuple[Files, dict[str, object]]]:
    hung, older = stopped(GRID, 5), job(GRID)
    newer = stopped(GRID, 5, starts_ns=NS + 1_800_000_000_000)
    both = files(stopped(GRID, 2), [0, 1, 3]) | files(newer, [2, 4, 5, 6, 7])
    return {
        "a_dead_rank": (files(hung, without([5], GRID)), right("no_dump", [5], missing=[5])),
        "a_victim_without_a_dump": (
            files(stopped(DEEP, 2), without([3], DEEP)),
            right("never_joined", [2], missing=[3], may_name=[3]),
        ),
        "rings_that_wrapped": (files(stopped(DEEP, 9, nth=13), ring=9), right("never_joined", [9])),
        "one_file_alone": (files(hung, [0]), right("undecidable")),
        "two_runs_mixed": (files(older, [1, 2]) | files(newer, without([1, 2], GRID)), right("undecidable")),
        "two_hung_runs_mixed": (both, right("undecidable")),
    }


def main() -> None:
    """Writes every scenario."""
    for name, (found, expected) in scenarios().items():
        folder = FOLDER / name
        (folder / "dumps").mkdir(parents=True, exist_ok=True)
        for file, content in found.items():
            (folder / "dumps" / file).write_bytes(content)
        (folder / "expect.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
