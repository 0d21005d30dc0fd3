"""Lines of a small text file one by one, whatever it is made of."""

from collections.abc import Iterator

from bathtub.source import Source

LINE_LIMIT = 1 << 20


def numbered_lines(source: Source) -> Iterator[tuple[int, str, bool]]:
    """(number from 1, text, whether it was cut) of each line, decoded with replacement, without its line end.

    A line of any length costs bounded memory: what exceeds LINE_LIMIT is dropped up to its newline.
    """
    number, tail, is_cut = 0, b"", False
    for chunk in source.chunks():
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            number += 1
            yield _line(number, tail + piece, is_cut=is_cut)
            tail, is_cut = b"", False
        tail += rest
        is_cut = is_cut or len(tail) > LINE_LIMIT
        tail = tail[: LINE_LIMIT + 1]
    if tail:
        yield _line(number + 1, tail, is_cut=is_cut)


def _line(number: int, raw: bytes, *, is_cut: bool) -> tuple[int, str, bool]:
    text = raw[:LINE_LIMIT].decode("utf-8", "replace").removesuffix("\r")
    return number, text.removeprefix("\ufeff") if number == 1 else text, is_cut or len(raw) > LINE_LIMIT
