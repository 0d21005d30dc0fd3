"""Which files are dumps, and what their names tell. Loads nothing: dumps are read while polars and DuckDB are still loading."""

import re

from bathtub.ingest._recorder_pickle import PROTOCOLS

MAX_BYTES = 64 << 20
MAX_RANK = 1 << 24

# nccl_trace_rank_container-node02_5, comm_lib_trace_rank_0, _dump_0.json, rank_3.json
_NAME = re.compile(
    r"(?:(?:nccl_|comm_lib_)?trace_rank_|_?dump_|rank_|trace_)?(?P<host>.*?)[-_.]?(?<!\d)(?P<rank>\d+)\D*",
    re.DOTALL,
)
_SUFFIX = re.compile(r"(?:\.json)?(?:\.gz|\.zst|\.xz)?$")
_JSON_KEYS = ((b'"pg_config"', b'"version"'), (b'"profiling_name"', b'"collective_seq_id"'))


def claims(head: bytes, _name: str) -> bool:
    """Whether a file that begins so is a dump, good or hostile."""
    if head[:1] == b"\x80":  # also a hostile one, so that it is refused by name
        return head[1:2] in PROTOCOLS
    return head[:1] == b"{" and any(all(key in head for key in keys) for keys in _JSON_KEYS)


def rank_and_host(name: str) -> tuple[int | None, str | None]:
    """The last number of a file's own name, and what stands before it where that is no well-known prefix."""
    found = _NAME.fullmatch(_SUFFIX.sub("", name))
    if found is None or len(found["rank"]) > len(str(MAX_RANK)) or int(found["rank"]) > MAX_RANK:
        return None, None
    return int(found["rank"]), found["host"] or None
