"""JSON by pieces: what stands at one path of a document of any size, and the keys that it opens with.

The decoder is ijson's, in C. A text that would break it is refused before it sees it: it keeps the whole path of each
level (80 KB of brackets take 4 GB), and a number of more than 4,300 digits is the end of the interpreter.
"""

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import ijson
import numpy as np

from bathtub.source import Quarantine, Source

MAX_DEPTH = 64
MAX_DIGITS = 4000
RAW_DEPTH, RAW_WIDTH = 3, 20

_UNREADABLE = (ijson.JSONError, ValueError, ArithmeticError)
"""What the decoder raises: for bad JSON; for text that is no Unicode; for numbers with too large an exponent."""
# "a \"b\""     a string, or the start of one that goes on behind the end of the text
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_LONG_NUMBER = re.compile(rb"(?<![0-9])[0-9]{%d}" % MAX_DIGITS)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def objects(source: Source, path: str) -> Iterator[object]:
    """What stands at a path (`jobs.item` is each member of `jobs`), one by one, of each document of the file.

    Undecodable bytes are replaced first. Raises Quarantine: truncated_json where the text ends early, bad_json where
    it is none, or is nested deeper than any answer of a scheduler.
    """
    found = ijson.sendable_list()
    reader = ijson.items_coro(found, path, multiple_values=True)
    decoder, guard = codecs.getincrementaldecoder("utf-8-sig")("replace"), Guard()
    for chunk in source.chunks():
        send(reader, guard, decoder.decode(chunk).encode())
        yield from found
        found.clear()
    send(reader, guard, decoder.decode(b"", final=True).encode())
    finish(reader)
    yield from found


def send(reader: Any, guard: "Guard", text: bytes) -> None:
    """The next piece of a text to a decoder of ijson. Raises Quarantine: bad_json."""
    if not guard.lets_pass(text):
        raise Quarantine("bad_json", f"nested deeper than {MAX_DEPTH}, or a number of {MAX_DIGITS} digits: export it again")
    try:
        if text:
            reader.send(text)
    except _UNREADABLE as error:
        words = str(error).removeprefix("b'").partition("\n")[0].partition("\\n")[0]
        raise Quarantine("bad_json", f"the JSON text cannot be read ({words}): export or copy it again") from error


def finish(reader: Any) -> None:
    """The end of the text to a decoder of ijson. Raises Quarantine: truncated_json."""
    try:
        reader.close()
    except _UNREADABLE as error:
        raise Quarantine("truncated_json", "the JSON text ends early: export or copy it again") from error


def opening(head: bytes) -> set[tuple[str, str]]:
    """(path, key) of every key in the first bytes of a document, up to where they end or cannot be read."""
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").encode()
    if not text.lstrip().startswith((b"{", b"[")) or not Guard().lets_pass(text):
        return set()
    events = ijson.sendable_list()
    with suppress(*_UNREADABLE):  # the events before it are what was asked for
        ijson.parse_coro(events, multiple_values=True).send(text)
    return {(path, key) for path, event, key in events if event == "map_key"}


def shown(value: object, depth: int = RAW_DEPTH) -> str:
    """A record as bounded JSON-like text: what lies deep or far behind is `…`."""
    if isinstance(value, dict) and depth:
        parts = [f'"{key[:100]}": {shown(each, depth - 1)}' for key, each in list(value.items())[:RAW_WIDTH]]
        return "{" + ", ".join(parts) + (", …}" if len(value) > RAW_WIDTH else "}")
    if isinstance(value, list) and depth:
        return "[" + ", ".join(shown(each, depth - 1) for each in value[:RAW_WIDTH]) + (", …]" if len(value) > RAW_WIDTH else "]")
    return "…" if isinstance(value, dict | list) else f'"{value[:1000]}"' if isinstance(value, str) else str(value)


class Guard:
    """Follows a text piece by piece and tells whether the decoder may see the next."""

    def __init__(self) -> None:
        self._depth = 0
        self._kept = b""
        self._is_in_string = False
        self._tail = b""

    def lets_pass(self, piece: bytes) -> bool:
        """Whether neither the nesting nor a number has become too long with this piece."""
        bare = self._without_strings(piece)
        brackets = np.frombuffer(bare.translate(None, _NO_BRACKETS), dtype=np.uint8)
        depths = self._depth + np.cumsum((brackets & 2).astype(np.int64) - 1)  # the bit that `[` and `{` have
        self._depth = int(depths[-1]) if len(depths) else self._depth
        bare = self._tail + bare
        self._tail = bare[-MAX_DIGITS:]
        return (not len(depths) or int(depths.max()) <= MAX_DEPTH) and not _LONG_NUMBER.search(bare)

    def _without_strings(self, piece: bytes) -> bytes:
        """The text between strings. A quote and a mark at its end tell whether a string is open there."""
        text = self._kept + piece
        whole = text.rstrip(b"\\")
        self._kept = b"\\" * ((len(text) - len(whole)) % 2)  # half an escape waits for the rest
        text = text.removesuffix(self._kept)
        bare = _STRING.sub(b"", (b'"' if self._is_in_string else b"") + text + b'"!')
        self._is_in_string = bare.endswith(b"!")
        return bare.removesuffix(b"!")
