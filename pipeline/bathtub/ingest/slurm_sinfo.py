r"""Text of Slurm's `sinfo`: states of nodes, and the reasons of those that are out of use, at the time it was run.

    sinfo -N -o '%N|%T|%E|%H|%u'  > sinfo-2026-03-01.txt        the export to ask for
    NODELIST|STATE|REASON|TIMESTAMP|USER
    gpu-[03-04]|drained*|nvlink errors : see ticket|2026-03-01T08:00:05|root

    sinfo -R
    REASON               USER      TIMESTAMP           NODELIST
    Kill task failed     root      2026-03-01T08:00:05 gpu-03

Written by Slurm 20.11 to 26.05, with `-o`, `-O`, `-N`, `-l`, `-R`. Columns are found by the names of the header, in any order;
text without one (`-h`) needs the format and its columns in the configuration. Without a delimiter columns are told apart by
blanks, and only the reason may hold some. A record is a row; it gives one row per node of its host list, NODELIST or else
HOSTNAMES. `-R` tells no state, and cuts reasons at 20 characters, which is marked. The suffixes of a state become flags.
Repeated headers, dates of `-l` and messages of the client are out of scope.

`seen_at` is when the file was collected (a date in its name, or the configuration); TIMESTAMP is `reason_at`.

Not read: partitions, CPUs, memory, load; the sums of `sinfo -s`, which name no state.

Flags: ambiguous_time, bad_reason_time.
Rejects: field_count, bad_nodes, line_too_long.
Quarantine: zone_required, columns_required.
"""

from collections.abc import Iterator, Mapping

from bathtub.ingest import Batch, Format
from bathtub.ingest._node_rows import NodeRows, snapshot, told
from bathtub.ingest._node_values import NO_STATE, count_gpus, moment, node_state, person, words
from bathtub.ingest._slurm_table import opening, records
from bathtub.schema import table
from bathtub.source import Source

FREE = frozenset({"REASON"})
_NAMES = """
ACTIVE_FEATURES ALLOCMEM ALLOCNODES AVAIL AVAIL_FE AVAIL_FEATURES CLUSTER COMMENT CORES CPUS CPUS(A/I/O/T) CPU_LOAD DEFAULTTIME
EXTRA FREE_MEM GRES GRES_USED GROUPS HOSTNAMES JOB_SIZE MAX_CPUS_PER_NODE MEMORY NODELIST NODES NODES(A/I) NODES(A/I/O/T)
NODE_ADDR OVERSUBSCRIBE PARTITION PORT PREEMPT_MODE PRIO_JOB_FACTOR PRIO_TIER REASON RESERVATION ROOT S:C:T SOCKETS STATE THREADS
TIMELIMIT TIMESTAMP TMP_DISK USER VERSION WEIGHT
"""
NAMES = frozenset(_NAMES.split())
NODES = ("NODELIST", "HOSTNAMES")
REASON_WIDTH = 20


def _claims(head: bytes, _name: str) -> bool:
    found = opening(head, FREE)
    names = set(found.names) if found else set()
    return names <= NAMES and not names.isdisjoint(NODES) and not names.isdisjoint({"STATE", "REASON"})


def _row(cells: Mapping[str, str], source: Source) -> dict[str, object]:
    """The columns of one row but for its nodes."""
    state = node_state(cells["STATE"]) if words(cells.get("STATE")) else NO_STATE
    reason = words(cells.get("REASON"))
    return {
        **snapshot(source),
        **told(state, moment(cells.get("TIMESTAMP"), source), "sinfo"),
        "reason": reason,
        "is_reason_cut": reason is not None and len(reason) == REASON_WIDTH,
        "reason_by": person(cells.get("USER")),
        "n_gpus": count_gpus(cells.get("GRES")),
        "n_gpus_used": count_gpus(cells.get("GRES_USED")),
        "gres": words(cells.get("GRES")),
    }


def _parse(source: Source) -> Iterator[Batch]:
    """Batches of an export."""
    rows = NodeRows(FORMAT.name, source)
    for record in records(source, FREE, frozenset(NODES)):
        rows.n_read += 1
        if record.cells is not None:
            nodes = next((record.cells[name] for name in NODES if record.cells.get(name)), None)
            rows.take(record.line, nodes, _row(record.cells, source), record.raw)
        elif record.reason is not None:
            rows.collector.reject(record.line, record.reason, record.raw)
        if rows.is_full:
            yield rows.collector.batch(rows.n_read)
            rows = NodeRows(FORMAT.name, source)
    yield rows.collector.batch(rows.n_read)


FORMAT = Format("slurm_sinfo", "1", "a row", (table("node_states"),), _claims, _parse, on_change="adds")
