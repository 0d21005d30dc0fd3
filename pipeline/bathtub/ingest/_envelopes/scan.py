"""The scan of a text log: whole chunks are searched for all literals at once, and only lines with a hit come out.

One Aho-Corasick automaton runs over each chunk as bytes; newlines are counted near memory speed. Lines are numbered
from 1. Headers are sampled once per SAMPLE_EVERY bytes, and closer at the start of a file, so that a small quiet log shows
all its days. A line of any length costs bounded memory: what exceeds LINE_LIMIT is dropped up to its newline, and it is
marked as cut.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from ahocorasick_rs import BytesAhoCorasick, MatchKind

SAMPLE_EVERY = 1 << 16
SAMPLE_CLOSELY = 1 << 10
CLOSE_BYTES = 1 << 20
LINE_LIMIT = 1 << 20
LONG_PART = 1 << 12
NEWLINE = 10


@dataclass(frozen=True)
class Line:
    """One line that holds a literal, or one sampled for its header only."""

    number: int
    raw: bytes
    is_hit: bool
    is_cut: bool = False


@cache
def _automaton(literals: tuple[bytes, ...]) -> BytesAhoCorasick:
    return BytesAhoCorasick(list(literals), matchkind=MatchKind.LeftmostFirst)


def scan(chunks: Iterable[bytes], literals: tuple[bytes, ...]) -> Iterator[tuple[list[Line], int]]:
    """For each stretch of whole lines: the hit and sampled lines in order, and the lines read so far in all.

    `chunks` are the content in pieces cut anywhere. The last line needs no newline.
    """
    find = _automaton(literals).find_matches_as_indexes
    done, n_bytes, is_first, last = 0, 0, True, b""
    for block, is_cut in _whole_lines(chunks):
        starts = {start: True for _, start, _ in find(block)} if literals else {}
        step = SAMPLE_CLOSELY if n_bytes < CLOSE_BYTES else SAMPLE_EVERY
        lines, n_lines = _lines(block, starts, range(step, len(block), step), done, is_cut=is_cut)
        n_bytes += len(block)
        if is_first and block:
            lines = _with(lines, Line(1, block[: block.find(b"\n")], is_hit=False))
        last, is_first = block, False
        done += n_lines
        yield lines, done
    if last:
        start = last.rfind(b"\n", 0, len(last) - 1) + 1
        yield [Line(done, last[start:-1], is_hit=False)], done


def _with(lines: list[Line], sample: Line) -> list[Line]:
    """The same lines with a sampled one in front, unless it is there already."""
    return lines if lines and lines[0].number == sample.number else [sample, *lines]


def _newlines(block: bytes, start: int, end: int) -> int:
    """How many newlines there are in a part of the block: over a long part numpy counts six times as fast."""
    if end - start < LONG_PART:
        return block.count(b"\n", start, end)
    return int(np.count_nonzero(np.frombuffer(block, np.uint8, end - start, start) == NEWLINE))


def _lines(block: bytes, hits: dict[int, bool], samples: range, done: int, *, is_cut: bool) -> tuple[list[Line], int]:
    """The lines at the hit and at the sampled positions, each once, and how many lines there are."""
    wanted = sorted({*hits, *samples})
    found: list[Line] = []
    counted = number_at = 0
    end = -1
    for position in wanted:
        if position < end:
            if position in hits and not found[-1].is_hit:
                found[-1] = Line(found[-1].number, found[-1].raw, is_hit=True, is_cut=is_cut)
            continue
        start = block.rfind(b"\n", 0, position) + 1
        end = block.find(b"\n", start)
        number_at += _newlines(block, counted, start)
        counted = start
        found.append(Line(done + number_at + 1, block[start:end], position in hits, is_cut))
    return found, number_at + _newlines(block, counted, len(block))


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Blocks that end with a newline (one is added to the last), and whether the block is one line cut short."""
    tail, is_skipping = b"", False
    for chunk in chunks:
        data = tail + chunk
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            is_skipping = is_skipping or len(data) > LINE_LIMIT
            tail = data[:LINE_LIMIT]
            continue
        if is_skipping:
            first = data.find(b"\n", len(tail)) + 1
            yield tail + b"\n", True
            data, cut, is_skipping = data[first:], cut - first, False
        if cut:
            yield data[:cut], False
        tail = data[cut:]
    if tail:
        yield tail + b"\n", is_skipping
