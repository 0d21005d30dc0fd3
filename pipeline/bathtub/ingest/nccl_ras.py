r"""NCCL's RAS report as JSON: how many operations each rank of a communicator has launched, and which ranks do not answer.

    {"nccl_version": "2.30.7", "timestamp": "2026-03-14 11:42:40", "communicators": [{"hash": "0x5c0ffee12ab34cd9", "size": 8,
     "ranks": [{"rank": 0, "host": "10.20.0.1", "pid": 2300, "cuda_dev": 0, "collective_counts": {"AllReduce": 8801, …}, …}],
     "missing_ranks": [{"rank": 7, "host": "10.20.0.2", "status": {"unresponsive": true, "considered_dead": false}}]}]}

Written by `ncclras -f json` (2.28.7 on; the text form is a grammar of `job_output`). A record is one count of one rank, of an
operation that some rank has launched, or one missing rank. 2.28.7 and 2.28.9 leave out the comma between `nvml_dev` and
`status` of missing ranks: it is put there, in reports of these two releases alone. Counts are launches: equal numbers
are no proof that anything moves.
Ranks are those of the communicator. Not read: states of initialisation, the report's own timing.

Rejects: bad_communicator, bad_rank, bad_count.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from bathtub.ingest import Batch, Format
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import UNKNOWN, Stamp, iso
from bathtub.schema import table
from bathtub.source import Quarantine, Source

NAME = "nccl_ras"
MAX_BYTES = 64 << 20
MAX_RANKS = 1 << 24
MAX_INT = 1 << 62

_OMITS_COMMA = re.compile(r'"nccl_version":\s*"2\.28\.[79]"')
# the line `"nvml_dev": 3` and behind it the line `"status": {`
_NO_COMMA = re.compile(r'("nvml_dev":\s*\d+)(\s+"status":)', re.ASCII)


def _claims(head: bytes, _name: str) -> bool:
    return head.lstrip()[:1] == b"{" and b'"nccl_version"' in head and b'"communicators' in head


def _document(source: Source) -> Mapping[str, object]:
    text = source.read(MAX_BYTES).decode("utf-8", "replace")
    if _OMITS_COMMA.search(text):
        text = _NO_COMMA.sub(r"\1,\2", text)
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Quarantine("bad_json", "the JSON text cannot be read: export or copy it again") from error
    if not isinstance(found, dict) or not isinstance(found.get("communicators"), list):
        raise Quarantine("no_communicators", "the report has no list of communicators: it is none of ncclras")
    return found


def _integer(value: object, below: int = MAX_INT) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _counts(each: object) -> Mapping[str, object]:
    found = each.get("collective_counts") if isinstance(each, dict) else None
    return found if isinstance(found, dict) else {}


def _used(ranks: object) -> set[str]:
    """The operations that some rank has launched."""
    listed = ranks if isinstance(ranks, list) else []
    return {op for each in listed for op, count in _counts(each).items() if _integer(count)}


class _Report:
    """One report on its way to rows; records are numbered as they come."""

    def __init__(self, source: Source, when: Stamp, written: str | None) -> None:
        self.collector, self.n_read = Collector(NAME, source), 0
        self._shared: dict[str, object] = {
            "seen_at": when.at,
            "time_source": "job",
            "time_quality": when.quality,
            "seen_at_raw": written,
            "zone_assumed": when.zone_assumed,
            "job_id": source.settings.job_id,
            "role": "context",
            "ranks": [],
            "flags": [],
        }

    def reject(self, reason: str, what: object) -> None:
        self.n_read += 1
        self.collector.reject(self.n_read, reason, repr(what))

    def communicator(self, found: object) -> None:
        size = _integer(found.get("size"), MAX_RANKS) if isinstance(found, dict) else None
        if not isinstance(found, dict) or not size:
            self.reject("bad_communicator", found)
            return
        used = _used(found.get("ranks"))
        for kind, key in (("ras_count", "ranks"), ("ras_missing", "missing_ranks")):
            listed = found.get(key)
            for each in listed if isinstance(listed, list) else []:
                rank = _integer(each.get("rank"), size) if isinstance(each, dict) else None
                if rank is None:
                    self.reject("bad_rank", each)
                    continue
                common = {"kind": kind, "pg_name": _text(found.get("hash")), "n_ranks": size, "group_rank": rank}
                self._member(each, common, used)

    def _member(self, each: Mapping[str, object], common: Mapping[str, object], used: set[str]) -> None:
        row = {**common, "host": _text(each.get("host")), "node": _text(each.get("host")) or self.collector.source.settings.node}
        row |= {"pid": _integer(each.get("pid")), "local_gpu": _integer(each.get("cuda_dev"))}
        if row["kind"] == "ras_missing":
            status = each.get("status")
            is_dead = isinstance(status, dict) and status.get("considered_dead") is True
            self._keep({**row, "error": "considered_dead" if is_dead else "unresponsive"}, each)
            return
        for op, count in _counts(each).items():
            launched = _integer(count)
            if launched is None:
                self.reject("bad_count", {op: count})
            elif op in used:
                self._keep({**row, "op": op, "last_enqueued": launched}, {**common, op: launched})

    def _keep(self, row: Mapping[str, object], raw: object) -> None:
        self.n_read += 1
        self.collector.kept += 1
        text = msgspec.json.encode(raw).decode()
        self.collector.keep("nccl_events", {**self._shared, "line": self.n_read, "raw": text, "text": None, **row})


def _parse(source: Source) -> Iterator[Batch]:
    found = _document(source)
    written = _text(found.get("timestamp"))
    report = _Report(source, iso(written, source) if written and source.settings.zone else UNKNOWN, written)
    communicators = found["communicators"]
    assert isinstance(communicators, list)
    for each in communicators:
        report.communicator(each)
    yield report.collector.batch(report.n_read)


FORMAT = Format(NAME, "1", "an operation count of a rank, or a missing rank", (table("nccl_events"),), _claims, _parse)
