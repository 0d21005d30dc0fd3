"""JSON lines: the object of each line, however damaged its neighbours are."""

from collections.abc import Iterator

from bathtub.ingest._agents import decoded
from bathtub.ingest._numbered import numbered
from bathtub.source import Source


def json_lines(source: Source) -> Iterator[tuple[int, dict[str, object] | None, str]]:
    """(number, object, text) of every line that is not blank; None where it holds no object."""
    for number, raw in numbered(source):
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if text:
            found = decoded(text)
            yield number, found if isinstance(found, dict) else None, text


def first_object(head: bytes) -> dict[str, object]:
    """The object of the first line that is not blank; an empty one where there is none."""
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    found = decoded(first) if first.lstrip(b"\xef\xbb\xbf").startswith(b"{") else None
    return found if isinstance(found, dict) else {}
