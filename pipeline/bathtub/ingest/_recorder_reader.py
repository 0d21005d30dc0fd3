"""Reads dumps through long-lived child processes, one for each thread that reads; one that dies or exceeds a limit is replaced.

A child is a fresh interpreter (never a fork: native threads run here), and enters this package without its
`__init__`, which would load polars: a child is up in some 50 ms and holds some 20 MiB.
"""

import atexit
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import msgspec

from bathtub.ingest._recorder_child import allowance_s
from bathtub.ingest._recorder_rows import Dump, Refusal
from bathtub.source import Quarantine

_START = """
import sys, types
for name, folder in (("bathtub", sys.argv[1]), ("bathtub.ingest", sys.argv[1] + "/ingest")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from bathtub.ingest._recorder_child import main
main()
"""
_PACKAGE = Path(__file__).resolve().parent.parent
PATIENCE_S = 20.0
"""Wall time beyond eight times the processor time: a busy machine is no fault of the file."""

_ANSWER = msgspec.msgpack.Decoder(Dump | Refusal)


class DumpReader:
    """Gives the columns of one dump at a time. Safe to share between threads, each of which has a child while it reads."""

    def __init__(self) -> None:
        self._idle: list[subprocess.Popen[bytes]] = []

    def read(self, data: bytes) -> Dump:
        """The dump in columns. Raises Quarantine with the child's reason, or for its death."""
        child = self._alive()
        try:
            found = _ANSWER.decode(self._exchange(child, data))
        except BaseException:
            _end(child)
            raise
        if isinstance(found, Refusal) and found.reason == "too_much_memory":
            _end(child)  # its memory may stay scattered
        else:
            self._idle.append(child)
        if isinstance(found, Refusal):
            raise Quarantine(found.reason, found.detail)
        return found

    def close(self) -> None:
        """Ends the children that read nothing."""
        while self._idle:
            _end(self._idle.pop())

    def _alive(self) -> subprocess.Popen[bytes]:
        """An idle child, else a new one."""
        try:
            while (child := self._idle.pop()).poll() is not None:
                _end(child)
        except IndexError:
            command = [sys.executable, "-P", "-c", _START, str(_PACKAGE)]
            pipe = subprocess.PIPE
            child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)  # noqa: S603 - our own interpreter
        return child

    def _exchange(self, child: subprocess.Popen[bytes], data: bytes) -> bytes:
        assert child.stdin is not None
        try:
            child.stdin.write(len(data).to_bytes(8, "big"))
            child.stdin.write(data)
            child.stdin.flush()
        except BrokenPipeError:
            _lost(child)
        deadline = time.monotonic() + PATIENCE_S + 8 * allowance_s(len(data))
        return _receive(child, int.from_bytes(_receive(child, 8, deadline), "big"), deadline)


def _receive(child: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    assert child.stdout is not None
    parts: list[bytes] = []
    with selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ)
        while size > 0:
            if not ready.select(max(0, deadline - time.monotonic())):
                child.kill()
                _lost(child)
            part = os.read(child.stdout.fileno(), min(size, 1 << 20))
            if not part:
                _lost(child)
            parts.append(part)
            size -= len(part)
    return b"".join(parts)


def _lost(child: subprocess.Popen[bytes]) -> NoReturn:
    code = child.wait()
    if code in (-signal.SIGPROF, -signal.SIGKILL):
        raise Quarantine("too_much_time", "reading it takes longer than any dump of its size should")
    raise Quarantine("reader_died", f"the process that read it ended with {code}: do not load the file elsewhere")


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.communicate()


READER = DumpReader()
atexit.register(READER.close)
