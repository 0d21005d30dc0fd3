"""The lines of a file of any size as bytes, with their numbers; a line without an end refuses the file."""

from collections.abc import Iterator

from bathtub.source import Quarantine, Source

MAX_LINE = 8 << 20


def numbered(source: Source) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line without its line feed), one by one. Raises Quarantine(`line_too_long`)."""
    rest, number = b"", 0
    for chunk in source.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield number, line
        if len(rest) > MAX_LINE:
            raise Quarantine("line_too_long", f"line {number + 1} is longer than {MAX_LINE} bytes: this is no text log")
    if rest:
        yield number + 1, rest
