"""States and error counters of InfiniBand ports as the kernel shows them in files: `grep -r . /sys/class/infiniband`.

    /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:255
    mlx5_1/ports/1/state    4: ACTIVE

A file per line, its path (whole, or below the class) and its content behind a colon or a tab. `state` and `phys_state` are states
`ib_state`, counters of errors (knowledge table `ib_counters`, from `counters` and `hw_counters`) states `ib_counter`: only
differences tell something, and a narrow counter stops at its highest value and is flagged `saturated`. There is neither host nor
time: the node comes from the configuration, the time is the file's collection, at or before.

Not read: counters of traffic, the card's description, and the tables of perfquery, ibqueryerrors, rdma and ethtool.

A record is a line.
Rejects: bad_counter, line_too_long.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from bathtub import knowledge
from bathtub.ingest import Batch, Format
from bathtub.ingest._lines import numbered_lines
from bathtub.ingest._rows import Collector, Row
from bathtub.ingest._samples import BATCH_ROWS, Seen, moment, observation
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("observations"),)
HEALTHY = {"state": "ACTIVE", "phys_state": "LinkUp"}
MOST = 0.5
# /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:255
_LINE = re.compile(
    r"(?:\./|/sys/class/infiniband/)?(?P<card>[a-z][\w-]{1,31})/ports/(?P<port>\d{1,3})/"
    r"(?:(?:hw_)?counters/(?P<counter>\w{1,64})|(?P<state>\w{1,64}))[:\t] ?(?P<value>.*)",
    re.ASCII,
)
_COUNT = re.compile(r"\d{1,20}", re.ASCII)
NO_DEVICE = dict.fromkeys(("pci_bdf", "device_uuid", "device_serial", "gpu_index"))


def _claims(head: bytes, _name: str) -> bool:
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:200] if line.strip()]
    found = [_LINE.match(line) for line in lines]
    return any(each and each["counter"] for each in found) and sum(map(bool, found)) >= MOST * len(lines)


@cache
def _bits() -> Mapping[str, int]:
    """How many bits each counter of errors has."""
    return dict(knowledge.tables()["ib_counters"].select("name", "bits").cast({"bits": int}).iter_rows())


def _state(found: re.Match[str]) -> Row | None:
    """The columns of a state or a counter that is an error's; None for all others."""
    value = found["value"].strip()
    if found["state"] in HEALTHY:
        word = value.partition(": ")[2] or value
        return {"kind": "ib_state", "check_name": found["state"], "value": value, "is_healthy": word == HEALTHY[found["state"]]}
    if found["counter"] not in _bits():
        return None
    is_full = _COUNT.fullmatch(value) is not None and int(value) >= 2 ** _bits()[found["counter"]] - 1
    flags = ["saturated"] if is_full else []
    return {"kind": "ib_counter", "check_name": found["counter"], "value": value, "flags": flags}


def _keep(collector: Collector, line: int, text: str) -> None:
    found = _LINE.fullmatch(text.rstrip())
    columns = _state(found) if found else None
    if found is None or columns is None:
        return
    if columns["kind"] == "ib_counter" and not _COUNT.fullmatch(str(columns["value"])):
        collector.reject(line, "bad_counter", text)
        return
    source = collector.source
    seen = Seen(line, moment(None, source), source.settings.node, NO_DEVICE, {}, "sysfs", text)
    row = observation(seen, 0, str(columns["kind"]), entity=f"{found['card']} port {found['port']}")
    collector.keep("observations", {**row, **columns})
    collector.kept += 1


def _parse(source: Source) -> Iterator[Batch]:
    collector, read = Collector(FORMAT.name, source), 0
    for number, text, is_cut in numbered_lines(source):
        read += 1
        if is_cut:
            collector.reject(number, "line_too_long", text)
        else:
            _keep(collector, number, text)
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("ib_sysfs", "1", "a line", TABLES, _claims, _parse)
