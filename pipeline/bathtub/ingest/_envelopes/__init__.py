"""Envelopes: what wraps a message in a text log, and the one format that every envelope makes.

An envelope says how a line's header reads; `text_log` turns it into a Format whose records are lines. Messages are
routed to the grammars by emitter; lines without a grammar's literal are counted, not parsed, except for one line per
64 KiB and the first and last, whose header tells the coverage: on which days a node was logged at all.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from bathtub.ingest import Batch, Format
from bathtub.ingest._coverage import Coverage
from bathtub.ingest._envelopes.boots import Boots
from bathtub.ingest._envelopes.scan import Line, scan
from bathtub.ingest._messages import Reject, grammars, interpret, of_emitter
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import UNKNOWN, Stamp
from bathtub.schema import table
from bathtub.source import Source

CLAIM_SHARE = 0.5
KERNEL = "kernel"
BATCH_ROWS = 50_000
MAX_MONOTONIC_DIGITS = 18

# [12345.678901] or [12345.678901] [ T1946], in front of a kernel message
_OF_KERNEL = (None, KERNEL, "vmunix")
_MONOTONIC = re.compile(r"\[\s*(\d{1,10})\.(\d{1,9})\]\s*(?:\[\s*[TC]\d+\]\s*)?")


@dataclass(frozen=True, slots=True)
class Header:
    """What stands around one message: null is what the log does not write. `time` is the stamp as written."""

    message: str
    emitter: str | None
    host: str | None = None
    time: str | None = None
    monotonic_us: int | None = None
    boot_id: str | None = None


@dataclass(frozen=True)
class Envelope:
    """How one kind of log writes a line's header.

    `pattern` has the groups time and message, and host and emitter where the log has them. `stamp` reads the time; lines
    without one have a time since boot, in front of the message or as `Header.monotonic_us`. `emitter` stands for the emitter
    of a log that has only one. A log that no pattern reads has its own `read`, which may give a Reject, its own `claims`,
    and `literals` of lines that it must see besides those of the grammars. `host_line` is a line of the file that names the
    host of all lines without one. Where a whole file ends with `end_line`, the last line of one that does not is a reject,
    unless it gave a row: `cut_short`.
    """

    name: str
    pattern: re.Pattern[str]
    stamp: Callable[[str, Source], Stamp]
    time_source: str
    emitter: str | None = None
    read: Callable[[str], Header | Reject | None] | None = None
    claims: Callable[[bytes, str], bool] | None = None
    literals: tuple[bytes, ...] = ()
    claim_share: float = CLAIM_SHARE
    host_line: re.Pattern[str] | None = None
    end_line: bytes | None = None
    record: str = "a line"

    def header(self, raw: str) -> Header | Reject | None:
        """The header of one line, a Reject where a line of ours cannot be read, None where it has another shape."""
        if self.read is not None:
            return self.read(raw)
        found = self.pattern.match(raw)
        if found is None:
            return None
        groups = found.groupdict()
        return with_clock(groups["message"] or "", groups.get("emitter") or self.emitter, groups.get("host"), groups.get("time"))


def with_clock(text: str, emitter: str | None, host: str | None = None, time: str | None = None) -> Header:
    """A header whose message may have a time since boot in front, where the kernel wrote it: others have numbers of their own."""
    clock = _MONOTONIC.match(text) if text.startswith("[") and emitter in _OF_KERNEL else None
    if clock is None:
        return Header(text, emitter, host, time)
    micros = int(clock[1]) * 1_000_000 + int(clock[2].ljust(6, "0")[:6])
    return Header(text[clock.end() :], emitter, host, time, micros)


@dataclass
class _Log:
    """One text log on its way to batches."""

    envelope: Envelope
    collector: Collector
    coverage: Coverage = field(default_factory=Coverage)
    host: str | None = None
    has_end: bool = False
    last: int = 0
    boots: Boots = field(default_factory=Boots)
    stamped: tuple[str | None, Stamp] = (None, UNKNOWN)
    held: dict[str | None, dict[str, str]] = field(default_factory=dict)
    n_rows: int = 0
    n_read: int = 0
    done: int = 0

    def flush(self, read: int) -> Batch:
        """The batch of the lines up to `read`, and a new start behind it."""
        batch = self.collector.batch(read - self.done)
        self.done, self.n_rows, self.collector = read, 0, Collector(self.envelope.name, self.collector.source)
        return batch

    def take(self, line: Line) -> None:
        """One line that holds a literal, or that is sampled for coverage."""
        raw = line.raw.decode("utf-8", "replace").lstrip("\x00").rstrip("\r\n")
        self.has_end = self.has_end or (self.envelope.end_line is not None and self.envelope.end_line in line.raw)
        if self.envelope.host_line is not None and (named := self.envelope.host_line.match(raw)):
            self.host = named[1]
        header = self.envelope.header(raw)
        if header is None or isinstance(header, Reject):
            if line.is_hit:
                self._refuse(line, raw, header)
            return
        node = header.host or self.host or self.collector.source.settings.node
        stamp = self._stamp(header, node)
        self.coverage.add(node, stamp)
        if line.is_hit:
            self._interpret(line, raw, header, node, stamp)

    def _stamp(self, header: Header, node: str | None) -> Stamp:
        if header.time is not None:
            if header.time != self.stamped[0]:
                self.stamped = header.time, self.envelope.stamp(header.time, self.collector.source)
            return self.stamped[1]
        if header.monotonic_us is None:
            return UNKNOWN
        return self.boots.stamp(node, header.monotonic_us, header.message, self.collector.source)

    def _refuse(self, line: Line, raw: str, header: Reject | None) -> None:
        """A reject where a line of ours has no header that can be read: a fault is never lost without a word."""
        reason = header.reason if header is not None else "line_too_long" if line.is_cut else None
        if reason is None and interpret(KERNEL, raw, {}) is not None:
            reason = "bad_header"
        if reason is not None:
            self.last = line.number
            self.collector.reject(line.number, reason, raw)

    def _interpret(self, line: Line, raw: str, header: Header, node: str | None, stamp: Stamp) -> None:
        emitter = KERNEL if header.emitter in (None, "vmunix") else header.emitter  # a tag lost, and an old name for it
        said = interpret(emitter, header.message, self.held.setdefault(node, {}))
        if said is None or (said[0].needs_node and node is None):
            return
        grammar, told = said
        self.last = line.number
        if isinstance(told, Reject):
            self.collector.reject(line.number, told.reason, raw)
            return
        shared = {
            "line": line.number,
            "seen_at": stamp.at,
            "time_source": self.envelope.time_source,
            "time_quality": stamp.quality,
            "seen_at_raw": header.time,
            "zone_assumed": stamp.zone_assumed,
            "boot_id": header.boot_id,
            "monotonic_us": header.monotonic_us,
            "node": node,
            "raw": raw,
        }
        self.collector.kept += 1
        for row in [told] if isinstance(told, Mapping) else told:
            self.n_rows += 1
            self.collector.keep(grammar.table.name, {**shared, **row})


def _parse(envelope: Envelope, source: Source) -> Iterator[Batch]:
    """Batches of a text log. A record is a line."""
    log = _Log(envelope, Collector(envelope.name, source))
    for lines, n_read in scan(source.chunks(), _literals(envelope)):
        for line in lines:
            log.take(line)
            if log.n_rows + len(log.collector.rejected) >= BATCH_ROWS:
                yield log.flush(line.number)
        log.n_read = n_read
    if envelope.end_line is not None and not log.has_end and log.n_read > log.last:
        log.collector.reject(log.n_read, "cut_short", "")
    for row in log.coverage.rows():
        log.collector.keep("coverage", row)
    yield log.flush(log.n_read)


def _literals(envelope: Envelope) -> tuple[bytes, ...]:
    """What the scan looks for: the literals of the grammars that the log's emitters can have, each once."""
    found = [literal for grammar in of_emitter(envelope.emitter) for literal in grammar.literals]
    own = envelope.literals if envelope.end_line is None else (*envelope.literals, envelope.end_line)
    return tuple(dict.fromkeys((*own, *found)))


def claims_lines(pattern: re.Pattern[str], head: bytes, share: float = CLAIM_SHARE) -> bool:
    """Whether at least this share of the lines of the head (the last may be cut) has such a header."""
    lines = [line for line in head.decode("utf-8", "replace").replace("\x00", "").splitlines() if line.strip()]
    matched = sum(pattern.match(line) is not None for line in lines[:200])
    return matched > 0 and matched >= share * min(len(lines), 200)


def text_log(envelope: Envelope) -> Format:
    """The format of a log with this envelope. Its version includes the versions of the grammars.

    The first of its tables is that of GPU faults.
    """
    known = of_emitter(envelope.emitter)
    versions = ",".join(f"{grammar.name}={grammar.version}" for grammar in known)
    found = sorted(dict.fromkeys(grammar.table for grammar in grammars()), key=lambda table: table.name != "gpu_faults")
    return Format(
        name=envelope.name,
        version=f"2+{blake2b(versions.encode(), digest_size=4).hexdigest()}",
        record=envelope.record,
        tables=(*found, table("coverage")),
        claims=envelope.claims or (lambda head, _name: claims_lines(envelope.pattern, head, envelope.claim_share)),
        parse=lambda source: _parse(envelope, source),
    )
