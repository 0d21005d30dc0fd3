"""Rows of `node_states` out of what a snapshot says about a host list, and the batches they make."""

from collections.abc import Mapping

from bathtub.ingest._hostlist import MAX_EXPANDED, NO_NODE, expand_nodes
from bathtub.ingest._node_values import NodeState
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import Stamp
from bathtub.source import Source

BATCH_ROWS = 50_000


def told(state: NodeState, reason_at: Stamp | None, source_kind: str) -> dict[str, object]:
    """The columns that every source of node states fills."""
    is_ambiguous = reason_at is not None and reason_at.quality == "ambiguous"
    is_bad = reason_at is not None and reason_at.at is None
    flags = ["ambiguous_time"] * is_ambiguous + ["bad_reason_time"] * is_bad
    return {
        "source_kind": source_kind,
        **state.columns,
        "is_reason_cut": False,
        "reason_at": None if reason_at is None else reason_at.at,
        "flags": flags,
    }


def snapshot(source: Source) -> dict[str, object]:
    """The time of a snapshot: when it was collected."""
    return {"seen_at": source.collected_at, "time_source": "file", "time_quality": "observation"}


class NodeRows:
    """One file of node states on its way to batches: a record gives a row per node of its host list."""

    def __init__(self, format_name: str, source: Source) -> None:
        self.collector = Collector(format_name, source)
        self.n_rows = self.n_read = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time for a batch."""
        return self.n_rows + len(self.collector.rejected) >= BATCH_ROWS

    def take(self, line: int, nodes: str | None, row: Mapping[str, object], raw: str) -> None:
        """The rows of one record, a row per node; `bad_nodes` where the list cannot be read, or all rows are too much."""
        names = None if nodes is None or nodes in NO_NODE else expand_nodes(nodes)
        size = sum(len(value) for value in row.values() if isinstance(value, str))
        if names is None or len(names) * size > MAX_EXPANDED:
            self.collector.reject(line, "bad_nodes", raw)
            return
        self.collector.kept += 1
        for name in names:
            self.n_rows += 1
            self.collector.keep("node_states", {"line": line, "node": name, **row})
