"""Lines of `sacct` to records: nothing is escaped, so delimiters and line breaks may stand in the free text.

A line with fewer delimiters than the header opens a record, and the following lines are appended until it is full.
A line that starts a record by itself, or opens one with its job id, ends it. Where the last column is free text, a full
line may go on in lines with fewer delimiters; they are its own where a record or the end of the text follows, and none
of them may be the rest of another record. Blank lines at their end are not. Surplus delimiters are rejoined in the free
text where exactly one reading has ids, state and times in their places. What cannot be mended is rejected by itself;
where it cannot be told whether a record ends before such lines or in them, with it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement, islice, takewhile

from bathtub.ingest._sacct_alignment import alignments
from bathtub.ingest._sacct_layout import Layout, is_blank, is_message, read_header

MAX_LINES = 1000
MAX_CHARACTERS = 1 << 20
MAX_ATTEMPTS = 100
MAX_READINGS = 500
MAX_TRIED = 200


@dataclass
class Records:
    """What some lines gave: records and rejects by position of their first line; `taken` lines of them are settled."""

    kept: list[tuple[int, list[str], str]] = field(default_factory=list)
    rejected: list[tuple[int, str, str]] = field(default_factory=list)
    n_out_of_scope: int = 0
    taken: int = 0


@dataclass(frozen=True)
class _Reading:
    """The cells of the lines from one on up to `end`, or why there are none."""

    end: int
    cells: list[str] | None = None
    reason: str = "field_count"
    is_each_alone: bool = False


def split_records(lines: list[str], layout: Layout, *, is_last: bool) -> Records:
    """The records of the lines. Unless they are the last, a record that may go on behind them is not taken."""
    found = Records()
    while found.taken < len(lines):
        start = found.taken
        if is_foreign(lines[start], layout):
            found.n_out_of_scope += 1
            found.taken += 1
            continue
        reading = _read(lines, start, layout, is_last=is_last)
        if reading is not None and reading.cells is not None and (layout.ends_in_text or layout.is_loose):
            reading = _with_rest(lines, start, reading, layout, is_last=is_last)
        if reading is None:
            return found
        if layout.is_open_at_both_ends and reading.cells is not None and "\n" in reading.cells[0]:
            reading = replace(reading, cells=None, reason="ambiguous_fields")
        _note(found, lines, reading)
    return found


def _note(found: Records, lines: list[str], reading: _Reading) -> None:
    start, found.taken = found.taken, reading.end
    if reading.cells is not None:
        found.kept.append((start, reading.cells, "\n".join(lines[start : reading.end])))
    elif reading.is_each_alone:
        blank = [at for at in range(start, reading.end) if is_blank(lines[at])]
        found.n_out_of_scope += len(blank)
        found.rejected += [(at, reading.reason, lines[at]) for at in range(start, reading.end) if at not in blank]
    else:
        found.rejected.append((start, reading.reason, "\n".join(lines[start : reading.end])))


def is_foreign(line: str, layout: Layout) -> bool:
    """Blank, a message of the client, or a repeated header."""
    if is_blank(line) or is_message(line):
        return True
    header = read_header(line, layout.delimiter, is_strict=False)
    return header is not None and header.names == layout.names


def starts_record(line: str, layout: Layout) -> bool:
    """Whether a line is full and has a job id in its place, counted from either end."""
    parts = line.split(layout.delimiter)
    if len(parts) <= layout.n_delimiters:
        return False
    at, shape = next(check for check in layout.checks["strict"] if layout.names[check[0]] == "JobID")
    return layout.opens_with_id(line) or any(shape.fullmatch(parts[place]) for place in (at, at - layout.n_delimiters - 1))


def _is_record(text: str, layout: Layout) -> bool:
    """Whether there is a strictly valid reading of a text, and another one where the last column takes what goes on behind it."""
    fitting = (cells for cells in readings(text.split(layout.delimiter), layout) if layout.fits(cells, "strict"))
    return len(list(islice(fitting, 1 + layout.last_is_open))) > layout.last_is_open


def _is_one(text: str, layout: Layout, degree: str) -> bool:
    """Whether there is exactly one reading of a text."""
    ways = (cells for cells in readings(text.split(layout.delimiter), layout) if layout.fits(cells, degree))
    first = list(islice(ways, 2))
    if len(first) <= 1:
        return len(first) == 1
    fine = (cells for cells in chain(first, ways) if layout.fits(cells, "fine"))
    return len(list(islice(fine, 2))) == 1


def readings(parts: list[str], layout: Layout) -> Iterator[list[str]]:
    """Every way to put the parts of a full record into the columns, surplus ones into the free text."""
    surplus = len(parts) - 1 - layout.n_delimiters
    if layout.is_trailing:
        if parts[-1]:
            return
        parts = parts[:-1]
    if surplus == 0:
        yield parts
    if layout.is_shared:
        yield from alignments(parts, layout)
        return
    free = layout.free_text
    if surplus <= 0 or not free or math.comb(surplus + len(free) - 1, surplus) > MAX_READINGS:
        return
    for places in combinations_with_replacement(free, surplus):
        cells, at = [], 0
        for column in range(len(layout.names)):
            width = 1 + places.count(column)
            cells.append(layout.delimiter.join(parts[at : at + width]))
            at += width
        yield cells


def _read(lines: list[str], start: int, layout: Layout, *, is_last: bool) -> _Reading | None:
    """The record that begins at a line; None where lines that are not here yet may decide."""
    full = _Attempts(layout)
    if lines[start].count(layout.delimiter) != layout.n_delimiters and not layout.can_open(lines[start]):
        return _Reading(start + 1)
    count = size = 0
    stop = min(len(lines), start + MAX_LINES)
    for end in range(start, stop):
        if end > start and (layout.opens_with_id(lines[end]) or starts_record(lines[end], layout) or is_message(lines[end])):
            is_ambiguous = (
                layout.opens_in_text and not is_message(lines[end]) and _is_record("\n".join(lines[start : end + 1]), layout)
            )
            return _Reading(end + 1, reason="ambiguous_fields") if is_ambiguous else full.settled(lines, start, end)
        count += lines[end].count(layout.delimiter)
        size += len(lines[end]) + 1
        if (end > start and size > MAX_CHARACTERS) or full.is_spent:
            return full.settled(lines, start, end + 1)
        if count >= layout.n_delimiters:
            chosen = full.attempt(lines, start, end + 1)
            if chosen is not None:
                return chosen
    if is_last or stop < len(lines):
        return full.settled(lines, start, stop)
    return None


def _with_rest(lines: list[str], start: int, reading: _Reading, layout: Layout, *, is_last: bool) -> _Reading | None:
    """A record in the light of the lines behind it, in which its text may go on; None where there may be more of them."""
    cells = reading.cells or []
    if not layout.fits(cells, "loose"):
        return reading
    rest = _rest(lines, reading.end, layout, is_last=is_last)
    if rest is None:
        return None
    if not layout.ends_in_text:
        return _doubted(lines, start, reading, layout, rest)
    own = list(takewhile(lambda line: not layout.looks_torn(line), rest))
    end = reading.end + len(own)
    if not _is_the_last(own, layout) and not _is_one("\n".join(lines[start:end]), layout, _degree(cells, layout)):
        return _Reading(end, reason="ambiguous_fields")
    if any(line.count(layout.delimiter) >= layout.n_delimiters or _is_unlike_text(line, layout) for line in rest):
        return reading
    return replace(reading, end=reading.end + len(rest), cells=[*cells[:-1], "\n".join([cells[-1], *rest])])


def _is_the_last(rest: list[str], layout: Layout) -> bool:
    """Whether the text that goes on can only be that of the last column."""
    return layout.holders == {len(layout.names) - 1} or not any(layout.delimiter in line for line in rest)


def _degree(cells: list[str], layout: Layout) -> str:
    return "strict" if layout.fits(cells, "strict") else "loose"


def _is_unlike_text(line: str, layout: Layout) -> bool:
    torn = layout.looks_torn(line)
    return not is_blank(line) and (layout.delimiter in line if torn is None else torn)


def _rest(lines: list[str], start: int, layout: Layout, *, is_last: bool) -> list[str] | None:
    """The lines up to the next record or the end of the text, blank ones at their end left out; None where there may be more."""
    end, size = start, 0
    stop = min(len(lines), start + MAX_LINES)
    for at in range(start, stop):
        line = lines[at]
        size += len(line) + 1
        if is_blank(line):
            continue
        if starts_record(line, layout) or is_foreign(line, layout) or (layout.n_opening and layout.can_open(line)):
            return lines[start:end]
        if size > MAX_CHARACTERS:
            return []
        end = at + 1
    if stop < len(lines):
        return []
    return lines[start:end] if is_last else None


def _doubted(lines: list[str], start: int, reading: _Reading, layout: Layout, rest: list[str]) -> _Reading:
    """The reading, unless the record goes on to the end of some line of the rest as well."""
    n = 0
    for at, line in enumerate(rest, start=reading.end):
        if is_blank(line) or not layout.can_close(line):
            continue
        if layout.looks_torn(line) or n > MAX_ATTEMPTS:
            break
        n += 1
        if _is_record("\n".join(lines[start : at + 1]), layout):
            return _Reading(at + 1, reason="ambiguous_fields")
    return reading


@dataclass
class _Attempts:
    """The readings tried so far for one record, and one of its first full text that would do if no better one comes."""

    layout: Layout
    n: int = 0
    n_ways: int = 0
    spare: _Reading | None = None

    @property
    def is_spent(self) -> bool:
        """Whether enough was tried."""
        return self.n > MAX_ATTEMPTS or self.n_ways > MAX_TRIED

    def attempt(self, lines: list[str], start: int, end: int) -> _Reading | None:
        """The one reading of full lines in which ids, state and times are valid, if there is one."""
        self.n += 1
        is_first = self.n == 1
        if not is_first and not self.layout.can_close(lines[end - 1]):
            return None
        ways = list(readings("\n".join(lines[start:end]).split(self.layout.delimiter), self.layout))
        self.n_ways += len(ways)
        fitting = [cells for cells in ways if self.layout.fits(cells, "strict")]
        if len(fitting) > 1:
            fitting = [cells for cells in fitting if self.layout.fits(cells, "fine")]
            return _Reading(end, fitting[0]) if len(fitting) == 1 else _Reading(end, reason="ambiguous_fields")
        if fitting:
            return _Reading(end, fitting[0])
        loose = [cells for cells in ways if self.layout.fits(cells, "loose")] if is_first else []
        if len(loose) == 1:
            self.spare = _Reading(end, loose[0])
        return None

    def settled(self, lines: list[str], start: int, end: int) -> _Reading:
        """What the lines are when no reading is strictly valid.

        A first line with exactly the right number of cells is taken as it stands, unless a cell may have been split. Lines
        that never made a full record are rejected each alone: none of them could open one either.
        """
        if self.spare is not None:
            return self.spare
        if not self.n:
            return _Reading(end, is_each_alone=True)
        if self.layout.is_shared:
            return _Reading(start + 1, reason="ambiguous_fields")
        parts = lines[start].split(self.layout.delimiter)
        ways = list(readings(parts, self.layout)) if len(parts) == self.layout.n_delimiters + 1 else []
        return _Reading(start + 1, ways[0] if ways else None)
