"""One export of `sacct`, block by block: its layout, its lines, and what one block leaves to the next."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bathtub.ingest._sacct_cells import EMPTY, Cells, Lines, split_cells
from bathtub.ingest._sacct_layout import Layout, configured, is_blank, is_fixed_width, is_message, read_header, refuse_fixed_width
from bathtub.source import Quarantine, Source

BLOCK = 1 << 23
REJECT_BYTES = 4096


def opening(text: str) -> list[str]:
    """The first lines that are the export's own."""
    return [line for line in text.lstrip("\ufeff").split("\n")[:100] if not is_blank(line) and not is_message(line)]


def cells_of(source: Source) -> Iterator[Cells]:
    """The records of a source by blocks, their places counted in lines from 1."""
    export = _Export(source)
    for block, is_cut in _blocks(source.chunks(BLOCK)):
        if is_cut and export.layout is not None:
            yield from export.take(b"", is_last=True)
            export.n_done += 1
            raw = block[:REJECT_BYTES].decode("utf-8", "replace")
            yield Cells(EMPTY, [(export.n_done, "line_too_long", raw)], n_out_of_scope=0, taken=1)
        else:
            yield from export.take(block, is_last=False)
    if export.layout is not None:
        yield from export.take(b"", is_last=True)


@dataclass
class _Export:
    """What is carried from block to block."""

    source: Source
    layout: Layout | None = None
    rest: bytes = b""
    n_done: int = 0

    def take(self, block: bytes, *, is_last: bool) -> Iterator[Cells]:
        """The records of a block of whole lines, behind what the block before left over."""
        block = block if block.isascii() else block.decode("utf-8", "replace").encode()
        if self.layout is None:
            block = block.removeprefix(codecs.BOM_UTF8)
            self.layout = _layout(block.decode(), self.source)
        self.rest += block if block.endswith(b"\n") or not block else block + b"\n"
        while b"JobID" in block and (turn := self._turn(self.layout)) is not None:
            at, layout = turn
            behind = Lines(self.rest).behind(at)
            yield self._split(self.rest.removesuffix(behind), self.layout, is_last=True)
            self.rest, self.layout = behind, layout
        yield self._split(self.rest, self.layout, is_last=is_last)

    def _turn(self, layout: Layout) -> tuple[int, Layout] | None:
        """Where the columns change, and to what: a header that is not the one in force."""
        for at, line in enumerate(Lines(self.rest).listed):
            if "JobID" in line and "State" in line:
                header = read_header(line)
                if header is not None and header.shape != layout.shape:
                    return at, header
        return None

    def _split(self, text: bytes, layout: Layout, *, is_last: bool) -> Cells:
        lines = Lines(text, layout.is_crlf)
        cells = split_cells(lines, layout, first_line=self.n_done + 1, is_last=is_last)
        self.rest = lines.behind(cells.taken)
        self.n_done += cells.taken
        return cells


def _layout(text: str, source: Source) -> Layout:
    """The layout of a file from its settings or its first lines. Raises Quarantine."""
    lines = opening(text)
    if source.settings.columns:
        return configured(source.settings, lines)
    if is_fixed_width(lines):
        refuse_fixed_width(lines)
    header = read_header(lines[0], source.settings.delimiter, is_strict=False) if lines else None
    if header is None and lines and not source.settings.delimiter and read_header(lines[0], ",", is_strict=False):
        raise Quarantine(
            "delimiter_required",
            "commas stand between its columns, and in lists too: give delimiter = ',', or export with `sacct -P`",
        )
    if header is None:
        raise Quarantine(
            "columns_required", "it opens with no header of sacct: name its columns and delimiter in the configuration"
        )
    return header


def _blocks(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Blocks of whole lines, and whether the block is the start of one line that was too long."""
    tail, is_skipping = b"", False
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            is_skipping = is_skipping or len(tail) + len(chunk) > BLOCK
            tail = (tail + chunk)[:BLOCK]
            continue
        if is_skipping:
            yield tail, True
            first = chunk.find(b"\n") + 1
            if first < cut:
                yield chunk[first:cut], False
        else:
            yield tail + chunk[:cut], False
        tail, is_skipping = chunk[cut:], False
    if tail:
        yield tail, is_skipping
