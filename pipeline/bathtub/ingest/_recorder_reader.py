"""Reads dumps through one long-lived child process, which is started anew when it dies or exceeds a limit.

The child is a fresh interpreter (never a fork: native threads run here), and enters this package without its
`__init__`, which would load polars: a child is up in some 50 ms and holds some 20 MiB.
"""

import atexit
import os
import selectors
import signal
import subprocess
import sys
import threading
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
    """Gives the columns of one dump at a time. Safe to share between threads: they take turns."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def read(self, data: bytes) -> Dump:
        """The dump in columns. Raises Quarantine with the child's reason, or for its death."""
        with self._turn:
            found = _ANSWER.decode(self._exchange(data))
            if isinstance(found, Refusal) and found.reason == "too_much_memory":
                self.close()  # its memory may stay scattered
        if isinstance(found, Refusal):
            raise Quarantine(found.reason, found.detail)
        return found

    def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _exchange(self, data: bytes) -> bytes:
        child = self._child
        if child is None or child.poll() is not None:
            self.close()
            command = [sys.executable, "-P", "-c", _START, str(_PACKAGE)]
            pipe = subprocess.PIPE
            child = self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)  # noqa: S603 - our own interpreter
        assert child.stdin is not None
        try:
            child.stdin.write(len(data).to_bytes(8, "big") + data)
            child.stdin.flush()
        except BrokenPipeError:
            self._lost(child)
        deadline = time.monotonic() + PATIENCE_S + 8 * allowance_s(len(data))
        return self._receive(child, int.from_bytes(self._receive(child, 8, deadline), "big"), deadline)

    def _receive(self, child: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
        assert child.stdout is not None
        parts: list[bytes] = []
        with selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            while size > 0:
                if not ready.select(max(0, deadline - time.monotonic())):
                    child.kill()
                    self._lost(child)
                part = os.read(child.stdout.fileno(), min(size, 1 << 20))
                if not part:
                    self._lost(child)
                parts.append(part)
                size -= len(part)
        return b"".join(parts)

    def _lost(self, child: subprocess.Popen[bytes]) -> NoReturn:
        code = child.wait()
        self.close()
        if code in (-signal.SIGPROF, -signal.SIGKILL):
            raise Quarantine("too_much_time", "reading it takes longer than any dump of its size should")
        raise Quarantine("reader_died", f"the process that read it ended with {code}: do not load the file elsewhere")


READER = DumpReader()
atexit.register(READER.close)
