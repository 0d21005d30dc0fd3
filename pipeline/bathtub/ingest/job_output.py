r"""What a training job prints: the lines of PyTorch, NCCL, gloo and torchrun among those of the program.

    [rank5]:[E314 11:42:07.327555102 ProcessGroupNCCL.cpp:683] [Rank 5] Watchdog caught collective operation timeout: …
    node12 [stderr] [rank18]:[E521 02:10:44.183518264 ProcessGroupNCCL.cpp:607] …
    node01:4101:4188 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer …

Written by the job to its stdout and stderr, one file for all ranks or one for each; a launcher may put host names in front. A
record is a line; lines of the program itself are out of scope. What each kind of line says is told by the grammars.

Times have a month and a day, neither year nor zone. With a zone in the configuration the year is the latest that fits the file;
without one `seen_at` is null and its quality `unknown`, and the file is read all the same: ranks and sequence numbers need
no clock. The node is the host that the line names, else the configured one. A summary of torchrun is read as one line.

Claimed where the head holds such a line, or under the scheduler's own name (`slurm-123.out`), if no other format claims it.
A program's source and a page that quotes such lines are not claimed. Since a job may print for days before it fails, the
configuration names the format for other files.

Rejects: line_too_long, and those of the grammars.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from bathtub.ingest import Batch, Format, formats
from bathtub.ingest._envelopes.scan import Line, scan
from bathtub.ingest._messages import Grammar, Reject, grammars, interpret
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import UNKNOWN, Stamp, glog, iso
from bathtub.schema import table
from bathtub.source import Source

NAME = "job_output"
BATCH_ROWS = 50_000

# [E314 11:42:07.327555102     E0314 11:43:09.551000      [2026-03-14 11:42:07] node01:4101:      time      : 2026-03-14_11:43:09
_TIME = re.compile(
    r"(?:^|[\s\[:])[EWIFC](?P<short>\d{3,4} \d\d:\d\d:\d\d(?:\.\d{1,9})?)[ \]]"
    r"|^\[?(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    r"|^\s*time\s+: (?P<summary>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)",
    re.ASCII | re.MULTILINE,
)
_OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_UNMISTAKABLE = re.compile(
    rb"ProcessGroup\w+\.cpp:\d+\]|:\d+:\d+ \[-?\d+\] (?:\S+:\d+ )?NCCL (?:INFO|WARN) |/gloo/transport/\w+/\w+\.cc:\d+\] "
    rb"|^\s*#\s+in group\s+per comm|ranks? ha(?:ve|s) launched up to operation \d"
    rb"|lagging ranks that caused this timeout|didn't join collective #\d",
    re.MULTILINE,
)
# a program or a page that quotes such lines
_QUOTES = re.compile(r"\.(?:py|ipynb|sh|c|cc|cpp|cu|h|hpp|rs|go|md|rst|html?)$", re.IGNORECASE)
_SCHEDULER_NAME = re.compile(r"(?:^|/)slurm-\d+(?:_\d+)?\.(?:out|err)$")


def _grammars() -> list[Grammar]:
    return [grammar for grammar in grammars() if NAME in grammar.emitters]


def _claims(head: bytes, name: str) -> bool:
    is_named = _SCHEDULER_NAME.search(name) is not None and bool(head) and b"\x00" not in head
    if _QUOTES.search(name) or (not is_named and (head[:1] in (b"\x80", b"{") or not _UNMISTAKABLE.search(head))):
        return False
    return not any(known.claims(head, name) for known in formats().values() if known.name != NAME)


def stamp(text: str, source: Source) -> tuple[str | None, Stamp]:
    """The time as written and as an instant; unknown where it needs a zone and the configuration has none."""
    found = _TIME.search(text)
    if found is None:
        return None, UNKNOWN
    if found["short"]:
        return found["short"], glog(found["short"], source)
    written = found["iso"] or found["summary"].replace("_", "T")
    is_known = source.settings.zone is not None or _OFFSET.search(written) is not None
    return written, iso(written, source) if is_known else UNKNOWN


@dataclass
class _Output:
    """A job's output on its way to batches; `held` is what a grammar keeps in mind for the lines behind it."""

    collector: Collector
    held: dict[str, str] = field(default_factory=dict)
    done: int = 0
    n_rows: int = 0

    def take(self, line: Line) -> None:
        raw = line.raw.decode("utf-8", "replace").replace("\x00", "").rstrip("\r\n")
        if line.is_cut:
            self.collector.reject(line.number, "line_too_long", raw)
            return
        said = interpret(NAME, raw, self.held)
        if said is None:
            return
        grammar, told = said
        if isinstance(told, Reject):
            self.collector.reject(line.number, told.reason, raw)
            return
        self.collector.kept += 1
        for row in [told] if isinstance(told, Mapping) else told:
            self.n_rows += 1
            self.collector.keep(grammar.table.name, {**self._shared(line, raw, row), **row})

    def _shared(self, line: Line, raw: str, row: Mapping[str, object]) -> dict[str, object]:
        source = self.collector.source
        written, when = stamp(f"{raw}\n{row.get('text')}", source)
        return {
            "line": line.number,
            "seen_at": when.at,
            "time_source": "job",
            "time_quality": when.quality,
            "seen_at_raw": written,
            "zone_assumed": when.zone_assumed,
            "node": row.get("host") or source.settings.node,
            "raw": raw,
            "job_id": source.settings.job_id,
        }

    def flush(self, read: int) -> Batch:
        batch = self.collector.batch(read - self.done)
        self.done, self.n_rows, self.collector = read, 0, Collector(NAME, self.collector.source)
        return batch


def _parse(source: Source) -> Iterator[Batch]:
    output, n_read = _Output(Collector(NAME, source)), 0
    for lines, so_far in scan(source.chunks(), tuple(literal for grammar in _grammars() for literal in grammar.literals)):
        for line in lines:
            if line.is_hit:
                output.take(line)
                if output.n_rows + len(output.collector.rejected) >= BATCH_ROWS:
                    yield output.flush(line.number)
        n_read = so_far
    yield output.flush(n_read)


_VERSIONS = ",".join(f"{grammar.name}={grammar.version}" for grammar in _grammars())
FORMAT = Format(
    name=NAME,
    version=f"1+{blake2b(_VERSIONS.encode(), digest_size=4).hexdigest()}",
    record="a line",
    tables=(table("nccl_events"), table("placements")),
    claims=_claims,
    parse=_parse,
)
