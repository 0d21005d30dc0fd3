r"""Flight-recorder dumps of PyTorch: the last operations of one rank on its process groups.

Written by `TORCH_FR_BUFFER_SIZE` / `TORCH_NCCL_TRACE_BUFFER_SIZE` on a timeout or an error, one file per rank,
`<prefix><global rank>`, as a pickle (protocol 2) or as JSON:

    {'version': '2.10', 'pg_config': {'0': {'name': '0', 'desc': 'default_pg', 'ranks': '[0, 1]'}},
     'pg_status': {'0': {'last_enqueued_collective': 12, ...}}, 'entries': [{'record_id': 0, ...}]}

The bare list of torch 2.2 and layouts 1.4 to 2.10 (torch 2.3 on) are read; a newer one is read by the same keys and flagged
`unknown_version`. A record is a dump. Of a pickle that was cut off, what stands before the entries is kept: it is rejected
as `truncated_pickle`, and its dump, flagged so, has watermarks and no entries. Dumps are hostile: nothing in them is executed
or evaluated, and they are loaded in a child process with limits (`_recorder_pickle`, `_recorder_child`). Stack frames are
not read. Rejects: truncated_pickle.

The rank is the last number in the file's own name; what stands before it, less the well-known prefixes, is the host.
The folder is the dump set: the dumps of one moment. Source: torch/csrc/distributed/c10d/FlightRecorder.hpp.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

import polars as pl
from msgspec.structs import asdict

from bathtub.ingest import Batch, Format
from bathtub.ingest._recorder_files import MAX_BYTES, claims, rank_and_host
from bathtub.ingest._recorder_frames import entry_frame, quality, row_frame
from bathtub.ingest._recorder_pickle import TRUNCATED
from bathtub.ingest._recorder_reader import READER
from bathtub.ingest._recorder_rows import Dump
from bathtub.ingest._rows import rejects
from bathtub.ingest._times import TOLERANCE
from bathtub.schema import table
from bathtub.source import Source


def _parse(source: Source) -> Iterator[Batch]:
    yield batch_of(READER.read(source.read(MAX_BYTES)), source)


def batch_of(dump: Dump, source: Source) -> Batch:
    """The rows of one dump."""
    folder, _, name = source.full_name.rpartition("/")
    rank, host = rank_and_host(name)
    common: dict[str, object] = {
        "source_id": source.source_id,
        "cluster": source.cluster,
        "time_source": "recorder",
        "dump_set": folder or ".",
        "rank": rank,
    }
    latest = source.collected_at + TOLERANCE
    entries = entry_frame(dump, common, latest)
    first_at, last_at = _span(entries["seen_at"])
    common |= {"seen_at": last_at, "time_quality": quality(last_at, latest)}
    row = {
        "host": host,
        "node": source.settings.node,
        "job_id": source.settings.job_id,
        "version": dump.version,
        "comm_lib_version": dump.comm_lib_version,
        "n_entries": dump.n_entries,
        "n_groups": dump.n_groups,
        "first_created_at": first_at,
        "last_created_at": last_at,
        "flags": _flags(dump, rank),
    }
    is_cut = TRUNCATED in dump.flags
    return Batch(
        frames={
            "dumps": row_frame(table("dumps"), [row], common),
            "collectives": entries,
            "process_groups": row_frame(table("process_groups"), [asdict(group) for group in dump.groups], common),
        },
        rejects=rejects([(1, TRUNCATED, "")] if is_cut else [], FORMAT.name, source),
        read=1,
        kept=0 if is_cut else 1,
        rejected=1 if is_cut else 0,
        out_of_scope=0,
    )


def _span(times: pl.Series) -> tuple[datetime | None, datetime | None]:
    return cast("datetime | None", times.min()), cast("datetime | None", times.max())


def _flags(dump: Dump, rank: int | None) -> list[str]:
    members = [group.member_ranks for group in dump.groups if group.member_ranks]
    flags = set(dump.flags)
    if rank is None:
        flags.add("no_rank")
    elif members and not any(rank in ranks for ranks in members):
        flags.add("rank_not_in_groups")
    return sorted(flags)


FORMAT = Format(
    name="flight_recorder",
    version="2",
    record="a dump",
    tables=(table("dumps"), table("collectives"), table("process_groups")),
    claims=claims,
    parse=_parse,
    name_carries_data=True,
)
