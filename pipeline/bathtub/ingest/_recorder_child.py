"""The child process that reads dumps, one after another, under limits of memory and processor time.

Its input and output are frames: eight bytes of length, then that many bytes; in comes a file's content, out goes one
Dump or Refusal (MessagePack). It imports neither polars nor DuckDB, writes no file, and ends with its input.
"""

import gc
import resource
import signal
import sys
from typing import BinaryIO

import msgspec

from bathtub.ingest._recorder_pickle import TRUNCATED, Refused, load, salvage
from bathtub.ingest._recorder_rows import Dump, Refusal, dump_of

MAX_MEMORY = 512 << 20


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answers each frame until the input ends."""
    _bound()
    encoder = msgspec.msgpack.Encoder()
    while len(header := incoming.read(8)) == 8:  # noqa: PLR2004 - the frame's length
        data = incoming.read(int.from_bytes(header, "big"))
        signal.setitimer(signal.ITIMER_PROF, allowance_s(len(data)))  # its default action ends this process
        try:
            reply = encoder.encode(answer(data))
        except MemoryError:
            reply = encoder.encode(Refusal("too_much_memory", f"reading it takes more than {MAX_MEMORY >> 20} MiB"))
        signal.setitimer(signal.ITIMER_PROF, 0)
        outgoing.write(len(reply).to_bytes(8, "big") + reply)
        outgoing.flush()
        del data, reply
        gc.collect()  # a hostile file may have left cycles


def answer(data: bytes) -> Dump | Refusal:
    """What is in one file. Raises MemoryError."""
    is_json = data[:1] != b"\x80"
    if not data:
        return Refusal("empty_file", "the file has no content: the rank died or was stopped while writing")
    try:
        value, n_trailing = (_from_json(data), 0) if is_json else load(data)
        dump = dump_of(value, is_json=is_json)
    except Refused as refused:
        return _rest(data, refused)
    if n_trailing:
        dump.flags = sorted([*dump.flags, "trailing_bytes"])
    return dump


def _rest(data: bytes, refused: Refused) -> Dump | Refusal:
    """What is left of a pickle that was cut off, flagged; else the refusal."""
    rest = salvage(data) if refused.reason == TRUNCATED else None
    if rest is not None:
        try:
            dump = dump_of(rest, is_json=False)
        except Refused:
            return Refusal(refused.reason, refused.detail)
        dump.flags = sorted([*dump.flags, TRUNCATED])
        return dump
    return Refusal(refused.reason, refused.detail)


def allowance_s(n_bytes: int) -> float:
    """Processor seconds for a file of that length; honest dumps take a twentieth."""
    return 1.5 + n_bytes / (4 << 20)


def _from_json(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "truncated_json" if "truncated" in str(error) else "bad_json"
        raise Refused(reason, f"{error}: copy it again") from error


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    gc.disable()
    gc.freeze()


def main() -> None:
    """Serves standard input and output."""
    serve(sys.stdin.buffer, sys.stdout.buffer)
