"""Envelopes: what wraps a message in a text log, and the one format that every envelope makes.

An envelope says how a line's header reads; `text_log` turns it into a Format whose records are lines. Messages are
routed to the grammars by emitter; lines without a grammar's literal are counted, not parsed, except for one line per
64 KiB and the first and last, whose header tells the coverage: on which days a node was logged at all.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import blake2b

from bathtub.ingest import Batch, Format
from bathtub.ingest._envelopes.scan import Line, scan
from bathtub.ingest._messages import Reject, grammars, interpret
from bathtub.ingest._rows import Collector
from bathtub.ingest._times import Stamp
from bathtub.schema import table
from bathtub.source import Source

CLAIM_SHARE = 0.5
BATCH_ROWS = 50_000

# [12345.678901] or [12345.678901] [ T1946], in front of a kernel message
_MONOTONIC = re.compile(r"\[\s*(\d{1,10})\.(\d{6})\]\s*(?:\[\s*[TC]\d+\]\s*)?")


@dataclass(frozen=True)
class Envelope:
    """How one kind of log writes a line's header.

    `pattern` has the groups time and message, and host and emitter where the log has them. `stamp` reads the time.
    `emitter` stands for the emitter of a log that has only one.
    """

    name: str
    pattern: re.Pattern[str]
    stamp: Callable[[str, Source], Stamp]
    time_source: str
    emitter: str | None = None


@dataclass
class _Seen:
    """First and last sampled time of one node and day."""

    first_at: datetime
    last_at: datetime
    n_sampled: int = 1


@dataclass
class _Log:
    """One text log on its way to batches."""

    envelope: Envelope
    collector: Collector
    coverage: dict[tuple[str | None, date], _Seen] = field(default_factory=dict)
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
        header = self.envelope.pattern.match(raw)
        if header is None:
            if line.is_hit and line.is_cut:
                self.collector.reject(line.number, "line_too_long", raw)
            return
        stamp = self.envelope.stamp(header["time"], self.collector.source)
        groups = header.groupdict()
        node = groups.get("host") or self.collector.source.settings.node
        self._cover(node, stamp)
        if line.is_hit:
            self._interpret(line, raw, groups, node, stamp)

    def _cover(self, node: str | None, stamp: Stamp) -> None:
        if stamp.at is None or stamp.quality == "future":
            return
        seen = self.coverage.setdefault((node, stamp.at.date()), _Seen(stamp.at, stamp.at, 0))
        seen.first_at, seen.last_at = min(seen.first_at, stamp.at), max(seen.last_at, stamp.at)
        seen.n_sampled += 1

    def _interpret(self, line: Line, raw: str, groups: Mapping[str, str | None], node: str | None, stamp: Stamp) -> None:
        emitter = groups.get("emitter") or self.envelope.emitter
        text = groups["message"] or ""
        clock = _MONOTONIC.match(text)
        said = interpret(emitter, text[clock.end() :] if clock else text)
        if said is None:
            return
        grammar, told = said
        if isinstance(told, Reject):
            self.collector.reject(line.number, told.reason, raw)
            return
        shared = {
            "line": line.number,
            "seen_at": stamp.at,
            "time_source": self.envelope.time_source,
            "time_quality": stamp.quality,
            "seen_at_raw": groups["time"],
            "zone_assumed": stamp.zone_assumed,
            "monotonic_us": int(clock[1]) * 1_000_000 + int(clock[2]) if clock else None,
            "node": node,
            "raw": raw,
        }
        self.collector.kept += 1
        for row in [told] if isinstance(told, Mapping) else told:
            self.n_rows += 1
            self.collector.keep(grammar.table.name, {**shared, **row})

    def coverage_rows(self) -> list[dict[str, object]]:
        """The coverage of the whole file, by node and day."""
        order = sorted(self.coverage.items(), key=lambda item: (item[0][0] or "", item[0][1]))
        return [
            {"node": node, "day": day, "first_at": seen.first_at, "last_at": seen.last_at, "n_sampled": seen.n_sampled}
            for (node, day), seen in order
        ]


def _parse(envelope: Envelope, source: Source) -> Iterator[Batch]:
    """Batches of a text log. A record is a line."""
    log = _Log(envelope, Collector(envelope.name, source))
    for lines, n_read in scan(source.chunks(), tuple(literal for grammar in grammars() for literal in grammar.literals)):
        for line in lines:
            log.take(line)
            if log.n_rows + len(log.collector.rejected) >= BATCH_ROWS:
                yield log.flush(line.number)
        log.n_read = n_read
    for row in log.coverage_rows():
        log.collector.keep("coverage", row)
    yield log.flush(log.n_read)


def _claims(envelope: Envelope, head: bytes) -> bool:
    """Whether at least half of the lines of the head (the last may be cut) have this envelope's header."""
    lines = [line for line in head.decode("utf-8", "replace").replace("\x00", "").splitlines() if line.strip()]
    matched = sum(envelope.pattern.match(line) is not None for line in lines[:200])
    return matched > 0 and matched >= CLAIM_SHARE * min(len(lines), 200)


def text_log(envelope: Envelope) -> Format:
    """The format of a log with this envelope. Its version includes the versions of the grammars."""
    versions = ",".join(f"{grammar.name}={grammar.version}" for grammar in grammars())
    return Format(
        name=envelope.name,
        version=f"1+{blake2b(versions.encode(), digest_size=4).hexdigest()}",
        record="a line",
        tables=(*dict.fromkeys(grammar.table for grammar in grammars()), table("coverage")),
        claims=lambda head, _name: _claims(envelope, head),
        parse=lambda source: _parse(envelope, source),
    )
