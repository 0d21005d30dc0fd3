"""Files below the folder: written as streams, with times that follow from the simulation."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import IO, cast

from bathtub.simulate.full.settings import at


def stamp(path: Path, at_s: float) -> None:
    """Sets a file's time to so many seconds after the start."""
    os.utime(path, (at(at_s).timestamp(),) * 2)


@contextmanager
def opened(path: Path, at_s: float) -> Iterator[IO[bytes]]:
    """A new file to write bytes into, compressed where its name ends in .gz, with its time. Equal bytes give equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=5, fileobj=raw, mtime=0) as packed:
                yield cast("IO[bytes]", cast("BufferedIOBase", packed))
        else:
            yield raw
    stamp(path, at_s)


def put(path: Path, content: str | bytes, at_s: float) -> None:
    """One whole file."""
    with opened(path, at_s) as file:
        file.write(content.encode() if isinstance(content, str) else content)
