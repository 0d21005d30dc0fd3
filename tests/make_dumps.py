"""Flight-recorder dumps of our own for the cases: `python -m tests.make_dumps` writes tests/ingest/flight_recorder/*/input*.

`torch_pickle` writes the opcodes as torch does (strings memoised, nothing else), `pickle` protocol 2 as a re-pickled
file has them.
"""

import gzip
import json
import pickle
import struct
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

CASES = Path(__file__).parent / "ingest" / "flight_recorder"
NS = 1_760_000_000_000_000_000


def torch_pickle(value: object, shared: Sequence[Mapping[str, object]] = ()) -> bytes:
    """The value as torch's writer puts it: protocol 2, MARK before every item, memo for strings and for what is `shared`."""
    return b"\x80\x02" + put(value, {}, frozenset(map(id, shared))) + b"."


def put(value: object, memo: dict[object, int], shared: Container[int] = ()) -> bytes:
    """The opcodes that build the value. `memo`: what stands under which number; strings by value, shared dicts by identity."""
    key = value if isinstance(value, str) else id(value) if id(value) in shared else None
    if key in memo:
        return b"h" + bytes([memo[key]]) if memo[key] < 256 else b"j" + struct.pack("<I", memo[key])
    made = _opcodes(value, memo, shared)
    if key is None:
        return made
    number = memo[key] = len(memo)
    return made + (b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number))


def _opcodes(value: object, memo: dict[object, int], shared: Container[int]) -> bytes:
    if isinstance(value, Mapping):
        items = (put(key, memo, shared) + put(item, memo, shared) for key, item in value.items())
        return b"}(" + b"".join(items) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(put(item, memo, shared) for item in value) + b"e"
    if isinstance(value, tuple):
        return b"".join(put(item, memo, shared) for item in value) + b"\x86"
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    return _put_scalar(value)


def _put_scalar(value: object) -> bytes:
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    assert isinstance(value, int)
    if 0 <= value < 1 << 8:
        return b"K" + bytes([value])
    if 0 <= value < 1 << 16:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x08" + struct.pack("<q", value)


def entry(number: int, seq: int, *, op: str = "nccl:all_reduce", done: bool = True, **more: object) -> dict[str, object]:
    """One entry of layout 2.10."""
    created = NS + number * 1_000_000
    return {
        "record_id": number,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "op_id": seq,
        "profiling_name": op,
        "time_created_ns": created,
        "input_sizes": [[64, 8]],
        "input_dtypes": ["BFloat16"],
        "output_sizes": [[64, 8]],
        "output_dtypes": ["BFloat16"],
        "state": "completed" if done else "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": created + 500_000 if done else None,
        "retired": done,
        "timeout_ms": 600_000,
        "is_p2p": False,
        "thread_id": "139",
        "thread_name": "pt_main_thread",
        "frames": [{"name": "step", "filename": "/opt/train/loop.py", "line": 40}],
        **more,
    }


def dump(entries: Sequence[object], *, version: str = "2.10", ranks: str = "[0, 1]", marks: tuple[int, int, int] = (3, -1, 2)):
    """One dump of two ranks' default group."""
    enqueued, started, completed = marks
    return {
        "version": version,
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}},
        ("comm_lib_version" if version == "2.10" else "nccl_version"): "2.27.5",
        "pg_status": {
            "0": {
                "last_enqueued_collective": enqueued,
                "last_started_collective": started,
                "last_completed_collective": completed,
            },
        },
        "entries": list(entries),
    }


def waiting() -> list[dict[str, object]]:
    """Three operations, the last of them pending."""
    return [entry(100, 1), entry(101, 2, input_sizes=[[4, 4], []]), entry(102, 3, op="nccl:_all_gather_base", done=False)]


def old(entries: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """The entries without what layout 2.4 does not have."""
    return [{key: value for key, value in each.items() if not key.startswith("thread_")} for each in entries]


_YOUNGER = ("collective_seq_id", "p2p_seq_id", "process_group", "input_dtypes", "output_dtypes", "timeout_ms", "is_p2p")


def layout_1_4(entries: Sequence[dict[str, object]]) -> dict[str, object]:
    """A dump of torch 2.3: `seq_id`, members as numbers under the local number of the group, no names, no status."""
    dropped = (*_YOUNGER, "thread_id", "thread_name")
    rows = [
        {"seq_id": each["collective_seq_id"], **{key: value for key, value in each.items() if key not in dropped}}
        for each in entries
    ]
    return {"entries": rows, "version": "1.4", "pg_config": {entry["pg_id"]: [0, 1] for entry in entries}}


def listed(each: dict[str, object]) -> dict[str, object]:
    """An entry as torch 2.2 writes it, which has nothing around the list of them."""
    kept = ("pg_id", "profiling_name", "input_sizes", "output_sizes", "state", "retired", "frames")
    more = {"seq_id": each["collective_seq_id"], "time_created_us": each["time_created_ns"] // 1000}
    return {**{key: each[key] for key in kept}, **more}


def as_json(value: dict[str, object]) -> bytes:
    """The same dump as torch writes JSON: sorted keys, numbers of the status as text, 0 for a time not discovered."""
    entries = [{k: v for k, v in each.items() if k != "frames"} for each in value["entries"]]
    for each in entries:
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            each[key] = each[key] or 0
    status = {key: {name: str(number) for name, number in marks.items()} for key, marks in value["pg_status"].items()}
    return json.dumps({**value, "entries": entries, "pg_status": status, "nccl_comm_state": {}}, sort_keys=True).encode()


def files() -> dict[str, bytes]:
    """Case and file name to content."""
    good = torch_pickle(dump(waiting()))
    odd = [
        "no entry",
        entry(1, 1, record_id=1 << 63, time_created_ns=float("nan"), retired=1, input_sizes={"a": 1}),
        entry(2, -2, input_sizes=[[-1]], input_dtypes=[7], profiling_name="x" * 600, timeout_ms=1.5, duration_ms=float("inf")),
        entry(3, 3, process_group="0", state=b"".decode(), output_sizes=[[True]], duration_ms=0.25),
        entry(4, 4, op="nccl:brand_new_op", duration_ms=2),
    ]
    unmapped = dump([], marks=(7, -1, 7))
    unmapped["pg_status"]["1"] = {
        "last_enqueued_collective": -1,
        "last_started_collective": "4",
        "last_completed_collective": "x",
    }
    unmapped["pg_status"]["one"] = {}
    empty = {"version": "2.10", "pg_config": {}, "comm_lib_version": "", "pg_status": {}, "entries": []}
    gloo = dump([entry(0, 1, op="gloo:barrier", done=False, retired=True)], ranks="[]")
    gloo["pg_config"] = {"": {"name": "", "desc": "", "ranks": "[]"}}
    return {
        "layout_2_10/input.pickle": good,
        "layout_2_4/input.pickle": torch_pickle(dump(old(waiting()), version="2.4", ranks="[4, 5]")),
        "repickled/input.pickle": pickle.dumps(dump(waiting()), 2),
        "json/input.json": as_json(dump(waiting())),
        "gzip/input.gz": gzip.compress(good, mtime=0),
        "newer_layout/input.pickle": torch_pickle(dump(waiting(), version="2.11")),
        "bad_values/input.pickle": pickle.dumps(dump(odd, ranks="[0, ..., 9]"), 2),
        "unmapped_groups/input.pickle": pickle.dumps(unmapped, 2),
        "recorder_off/input.pickle": torch_pickle(empty),
        "gloo/input.pickle": torch_pickle(gloo),
        "trailing_bytes/input.pickle": good + b"\0" * 64,
        "truncated/input.pickle": good[: len(good) // 2],
        "truncated_before_the_status/input.pickle": good[:100],
        "two_dumps/input.pickle": good + good,
        "names_a_global/input.pickle": b"\x80\x02}X\x07\x00\x00\x00versioncos\nsystem\nX\x04\x00\x00\x00true\x85Rs.",
        "stack_global/input.pickle": b"\x80\x04}\x8c\x02os\x8c\x06system\x93.",
        "memo_bomb/input.pickle": b"\x80\x02]r\x00\x00\x00\x10.",
        "code_in_ranks/input.pickle": pickle.dumps(dump([], ranks="\"__import__('os').getpid()\""), 2),
        "entries_a_dict/input.pickle": pickle.dumps({**dump([]), "entries": {}}, 2),
        "bare_list/input.pickle": torch_pickle([listed(each) for each in waiting()]),
        "list_of_something_else/input.pickle": pickle.dumps([{"pg_id": 0, "rank": 1}], 2),
        "layout_1_4/input.pickle": torch_pickle(layout_1_4(waiting())),
        "layout_1_3/input.pickle": pickle.dumps({"entries": [], "version": "1.3", "pg_config": {}}, 2),
    }


def main() -> None:
    """Writes every input where its case stands."""
    for name, content in files().items():
        path = CASES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
