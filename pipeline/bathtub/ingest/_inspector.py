"""The objects of NCCL's inspector, and the row of one finished collective."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from bathtub.ingest._times import UNKNOWN, Stamp, checked
from bathtub.source import Source

VERSIONS = ("v4.0",)
MAX_INT = 1 << 62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_US = 253_402_300_799_000_000  # the end of 9999


class Header(msgspec.Struct):
    """The communicator and the rank of it."""

    id: str
    rank: int
    n_ranks: int | None = None
    nnodes: int | None = None


class Metadata(msgspec.Struct):
    """Who wrote the record, and when."""

    inspector_output_format_version: str | None = None
    dump_timestamp_us: int | None = None
    hostname: str | None = None
    pid: int | None = None


class Speed(msgspec.Struct):
    """One finished collective."""

    coll: str
    coll_sn: int
    coll_msg_size_bytes: int | None = None
    coll_exec_time_us: int | None = None
    coll_timing_source: str | None = None
    coll_algobw_gbs: float | None = None
    coll_busbw_gbs: float | None = None


class Record(msgspec.Struct):
    """One line: header and metadata may stand on an earlier one."""

    header: Header | None = None
    metadata: Metadata | None = None
    coll_perf: Speed | None = None


_DECODER = msgspec.json.Decoder(Record)


def record_of(line: bytes) -> Record | str:
    """The record of one line, or why it is none."""
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError:
        return "missing_field"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "bad_json"


def _integer(value: int | None) -> int | None:
    return value if value is not None and 0 <= value < MAX_INT else None


def speed_row(header: Header, metadata: Metadata, speed: Speed, source: Source) -> Mapping[str, object]:
    """The row of one finished collective, without its line."""
    micros = metadata.dump_timestamp_us
    when = UNKNOWN
    if micros is not None and 0 < micros < _LATEST_US:
        when = checked(Stamp(_EPOCH + timedelta(microseconds=micros), "exact"), source)
    return {
        "seen_at": when.at,
        "time_source": "job",
        "time_quality": when.quality,
        "comm_id": header.id,
        "rank": header.rank,
        "n_ranks": _integer(header.n_ranks),
        "n_nodes": _integer(header.nnodes),
        "node": metadata.hostname or source.settings.node,
        "pid": _integer(metadata.pid),
        "op": speed.coll,
        "seq": speed.coll_sn,
        "message_bytes": _integer(speed.coll_msg_size_bytes),
        "elapsed_us": _integer(speed.coll_exec_time_us),
        "timing_source": speed.coll_timing_source,
        "algo_bandwidth_gbs": speed.coll_algobw_gbs,
        "bus_bandwidth_gbs": speed.coll_busbw_gbs,
        "job_id": source.settings.job_id,
        "flags": [] if metadata.inspector_output_format_version in VERSIONS else ["unknown_version"],
    }
