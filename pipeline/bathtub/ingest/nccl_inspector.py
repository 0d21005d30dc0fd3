r"""Records of NCCL's inspector plugin: how long each collective took, one JSON object per line.

    {"header":{"id":"0x5c0ffee12ab34cd9","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0",
     "dump_timestamp_us":1773488527000000,"hostname":"node04","pid":2302},"coll_perf":{"coll":"AllReduce","coll_sn":410,
     "coll_msg_size_bytes":1073741824,"coll_exec_time_us":9100,"coll_algobw_gbs":117.99,"coll_busbw_gbs":206.49}}

Written by ext-profiler/inspector (NCCL 2.28 on), a file per process. A record is a line. Newer versions write the header once,
and records behind it without one: those belong to the last header. A record may be of another layout version: flagged
`unknown_version`. The plugin drops records silently, so ranks have unequal counts: `int_speed_coverage` states how many
of the numbered collectives are there. It is data about speed, not about hangs. Other profilers write text that is no JSON.

Rejects: line_too_long, bad_json, no_header, missing_field.
"""

from collections.abc import Iterator

from bathtub.ingest import Batch, Format
from bathtub.ingest._inspector import MAX_INT, Header, Metadata, Record, record_of, speed_row
from bathtub.ingest._rows import Collector
from bathtub.schema import table
from bathtub.source import Source

NAME = "nccl_inspector"
LINE_LIMIT = 1 << 20
BATCH_ROWS = 50_000


def _claims(head: bytes, _name: str) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"inspector_output_format_version"' in first


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, from 1; what exceeds LINE_LIMIT is dropped up to the line's end."""
    number, tail = 0, b""
    for chunk in source.chunks():
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            number += 1
            yield number, (tail + piece)[: LINE_LIMIT + 1]
            tail = b""
        tail = (tail + rest)[: LINE_LIMIT + 1]
    if tail:
        yield number + 1, tail


class _File:
    """One file of records; the last header and metadata hold for records without their own."""

    def __init__(self, source: Source) -> None:
        self.source, self.collector = source, Collector(NAME, source)
        self.header: Header | None = None
        self.metadata = Metadata()

    def take(self, number: int, line: bytes) -> None:
        record = "line_too_long" if len(line) > LINE_LIMIT else record_of(line)
        reason = record if isinstance(record, str) else self._reason(record)
        if reason is not None:
            self.collector.reject(number, reason, line.decode("utf-8", "replace"))
            return
        assert isinstance(record, Record)
        if record.coll_perf is not None and self.header is not None:
            row = speed_row(self.header, self.metadata, record.coll_perf, self.source)
            self.collector.keep("collective_speeds", {"line": number, **row})
            self.collector.kept += 1

    def _reason(self, record: Record) -> str | None:
        self.header, self.metadata = record.header or self.header, record.metadata or self.metadata
        if record.coll_perf is None:
            return None if record.header or record.metadata else "missing_field"
        if self.header is None:
            return "no_header"
        is_bounded = 0 <= self.header.rank < MAX_INT and 0 <= record.coll_perf.coll_sn < MAX_INT
        return None if is_bounded else "missing_field"


def _parse(source: Source) -> Iterator[Batch]:
    file, done, number = _File(source), 0, 0
    for number, line in _lines(source):
        if line.strip():
            file.take(number, line)
        if file.collector.kept + len(file.collector.rejected) >= BATCH_ROWS:
            yield file.collector.batch(number - done)
            done, file.collector = number, Collector(NAME, source)
    yield file.collector.batch(number - done)


FORMAT = Format(NAME, "1", "a line", (table("collective_speeds"),), _claims, _parse)
