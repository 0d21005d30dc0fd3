r"""A pickle of plain values, read without trust: a scan over its opcodes, then the C unpickler.

Two walls stand one behind the other: the scan admits only the opcodes of plain values, and the unpickler resolves no
global and no persistent id. Memory and time are bounded by the child process that runs this (`_recorder_child`).
Depth needs no bound of its own: neither the C unpickler nor the reader of the values recurses.

The scan is one regular expression over runs of opcodes of fixed length, so that Python takes a step per text and not
per opcode. Opcodes: Lib/pickletools.py of CPython; what torch writes: torch/csrc/jit/serialization/pickler.h.
"""

import io
import pickle
import re
from functools import cache
from typing import Never

MAX_TEXT = 1 << 20
MAX_TEXTS = 1 << 20
MAX_INTEGER = 9
"""Bytes of a number: a time in nanoseconds takes eight."""
TRUNCATED = "truncated_pickle"
PROTOCOLS = b"\x02\x03\x04\x05"

_ENTRIES = b"X\x07\x00\x00\x00entries"
_GLOBALS = b"ciobRPQ\x81\x82\x83\x84\x92\x93"
_ARGUMENTS = {b"h": 1, b"K": 1, b"q": 1, b"M": 2, b"J": 4, b"j": 4, b"r": 4, b"G": 8, b"X": 4, b"\x8a": 1}
_DAMAGED = (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)


class Refused(Exception):
    """This dump is not read: a stable reason, and the same in words."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Never:
        raise Refused("pickle_global", f"it names {module[:80]}.{name[:80]}: no dump does, do not load it elsewhere")

    def persistent_load(self, pid: object) -> Never:  # noqa: ARG002 - the signature is the library's
        raise Refused("pickle_global", "it holds a persistent id: no dump does")


def scan(data: bytes) -> int:
    """The offset behind STOP of a pickle of plain values. Raises Refused at the first opcode that is none of theirs."""
    run, at = _fixed(min(255, len(data) >> 17)), 2
    for _ in range(MAX_TEXTS):
        found = run.match(data, at)
        at = found.end() if found else at
        if data.startswith(b"X", at) and at + 5 <= len(data):
            length = int.from_bytes(data[at + 1 : at + 5], "little")
            if length > MAX_TEXT:
                raise Refused("text_too_long", f"a text of {length} bytes at offset {at}; the longest read is {MAX_TEXT}")
            at += 5 + length
        elif data.startswith(b".", at):
            return at + 1
        else:
            _refuse(data, at)
    raise Refused("too_many_items", f"more than {MAX_TEXTS} texts: a dump holds each once")


def load(data: bytes) -> tuple[object, int]:
    """The value of a pickle and the number of bytes behind it. Raises Refused, MemoryError."""
    stop = scan(data)
    if data[stop : stop + 1] == b"\x80" and data[stop + 1 : stop + 2] in PROTOCOLS:
        raise Refused("two_dumps", f"a second pickle begins at offset {stop}: split the file, the two may be of two moments")
    try:
        # a buffered reader lets the unpickler peek; over BytesIO alone it calls back at every opcode
        value = _Plain(io.BufferedReader(io.BytesIO(data), min(len(data), 1 << 20) + 1)).load()
    except _DAMAGED as error:
        raise Refused("damaged_pickle", f"it cannot be loaded ({type(error).__name__}): copy it again") from error
    return value, len(data) - stop


def salvage(data: bytes) -> object | None:
    """What a pickle that was cut off holds before its entries, without any entry; None where that is nothing.

    torch writes configuration and status first: with the dict closed before the key `entries` a good pickle is left,
    which passes the same two walls.
    """
    at = data.find(_ENTRIES)
    if at < 0:
        return None
    try:
        value, _ = load(data[:at] + b"u.")
    except Refused:
        return None
    return {**value, "entries": []} if isinstance(value, dict) and value.get("pg_status") else None


@cache
def _fixed(memo_bound: int) -> re.Pattern[bytes]:
    """Runs of opcodes whose length is known from the opcode.

    `memo_bound`: memo indexes stay below (memo_bound + 1) * 65536. Each PUT needs two bytes and something to put, so
    half the length of the file bounds the honest ones; a nine-byte file could ask for gigabytes otherwise.
    """
    integers = b"|".join(b"%c.{%d}" % (n, n) if n else rb"\x00" for n in (8, 0, 1, 2, 3, 4, 5, 6, 7)) + rb"|\t.{9}"
    index = b"[\\x00-\\x%02x]" % memo_bound
    return re.compile(
        rb"(?s:[hqK].|[\]}()tuseaN\x85-\x89]|M..|[Jj]....|r.." + index + rb"\x00|\x8a(?:" + integers + rb")|G.{8})*+",
    )


def _refuse(data: bytes, at: int) -> Never:
    opcode = data[at : at + 1]
    rest = len(data) - at - 1
    if not data[at:].strip(b"\x00") or rest < _ARGUMENTS.get(opcode, 0):
        raise Refused("truncated_pickle", f"it ends inside the pickle, at byte {at} of {len(data)}: the writer was cut off")
    if opcode in _GLOBALS:
        raise Refused("pickle_global", f"opcode {opcode!r} at offset {at} makes objects: no dump does, do not load it elsewhere")
    if opcode == b"r":
        raise Refused("memo_bomb", f"a memo index at offset {at} is far beyond what the file can hold")
    if opcode == b"\x8a" and data[at + 1] > MAX_INTEGER:
        raise Refused("number_too_long", f"a number of {data[at + 1]} bytes at offset {at}")
    if opcode == b"\x8a":
        raise Refused("truncated_pickle", f"it ends inside a number, at byte {at} of {len(data)}: the writer was cut off")
    raise Refused("unexpected_opcode", f"opcode {opcode!r} at offset {at} is in no dump of torch")
