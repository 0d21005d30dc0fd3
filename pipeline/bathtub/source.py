"""Source: one raw file, its identity, and its bytes opened safely.

`content_id` is BLAKE3 of the decompressed content; `source_id` the same over (cluster, content), and over the
logical name too where the name carries data. Compression is told from the first bytes, never from the name;
the expanded size, the decompressor's window and the time order of the two passes are bounded.
"""

import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

import zstandard
from blake3 import blake3
from isal import igzip, isal_zlib

CHUNK = 1 << 20
HEAD = 1 << 16
MACHINE_ZONES = ("localtime", "Factory", "posixrules")
"""Names that stand for another time zone on every machine: never the zone of a source."""
MAX_WINDOW = 1 << 27
MAX_EXPANDED = 16 << 30
REPORT = b"Start of NVIDIA bug report log file"

_COMPRESSED = re.compile(r"\.(?:gz|zst|xz)$", re.IGNORECASE)
_ROTATED = re.compile(r"(?:\.\d{1,3}|[-.]\d{8}(?:-\d{1,10})?|\.old)$")
_DATE_IN_NAME = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)(?!\d)")
_ISAL_ERROR = cast("type[Exception]", isal_zlib.IsalError)
_ZSTD_END = b"\xa5" * 4096  # compresses to a run, so that no raw block of a cut frame can pass it through


class Quarantine(Exception):
    """This file cannot be taken in: a stable reason, and the same in words with the remedy."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Settings:
    """What the configuration says about a file, because the file itself does not.

    `zone` is the IANA name of zone-less text; `columns` and `delimiter` are for text without a header;
    `epoch` is when relative times begin, `booted_at` when the machine was booted whose kernel wrote times since boot.
    """

    cluster: str = "default"
    zone: str | None = None
    node: str | None = None
    job_id: str | None = None
    collected_at: datetime | None = None
    format: str | None = None
    columns: tuple[str, ...] = ()
    delimiter: str | None = None
    epoch: datetime | None = None
    booted_at: datetime | None = None
    max_expanded_bytes: int = MAX_EXPANDED


@dataclass(frozen=True)
class Source:
    """One raw file with its identity. `full_name` is its path below the inbox, with `/` between."""

    path: Path
    full_name: str
    settings: Settings
    collected_at: datetime
    content_id: str = ""
    source_id: str = ""
    n_bytes: int = -1
    prefixes: dict[int, str] = field(default_factory=dict, compare=False)

    @property
    def cluster(self) -> str:
        """The cluster that the file belongs to."""
        return self.settings.cluster

    @property
    def name(self) -> str:
        """The logical name: without rotation and compression suffixes."""
        return logical_name(self.full_name)

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """The decompressed content that was hashed, in pieces of at most `size` bytes.

        A file that grew since stops at the hashed length; one that shrank raises Quarantine.
        """
        left = self.n_bytes
        for chunk in expand(self.path, self.settings.max_expanded_bytes, size):
            if 0 <= left <= len(chunk):
                yield chunk[:left]
                return
            left -= len(chunk)
            yield chunk
        if self.n_bytes >= 0 and left > 0:
            raise Quarantine("changed_while_reading", "the file became shorter while it was read: run again")

    def read(self, limit: int) -> bytes:
        """The whole content. Raises Quarantine where it is longer than `limit` bytes."""
        if self.n_bytes > limit:
            raise Quarantine("file_too_large", f"{self.n_bytes} bytes, and this format is read up to {limit}")
        return b"".join(self.chunks())


def logical_name(full_name: str) -> str:
    """The path below the inbox without compression and rotation suffixes: `n1/messages.2.gz` is `n1/messages`."""
    name = _COMPRESSED.sub("", full_name)
    bare = _ROTATED.sub("", name)
    return bare if bare.rpartition("/")[2] else name


def named_date(full_name: str) -> datetime | None:
    """Midnight UTC after the last date in a file's own name, None without one."""
    found = None
    for year, month, day in _DATE_IN_NAME.findall(full_name.rpartition("/")[2]):
        try:
            found = datetime(int(year), int(month), int(day), 23, 59, 59, tzinfo=UTC)
        except ValueError:
            continue
    return found


def head(path: Path, limit: int = MAX_EXPANDED) -> bytes:
    """The first 64 KiB of the decompressed content, shorter where the file is. Raises Quarantine."""
    parts: list[bytes] = []
    for chunk in expand(path, limit, HEAD):
        parts.append(chunk)
        if sum(map(len, parts)) >= HEAD:
            break
    return b"".join(parts)[:HEAD]


def digest(path: Path, limit: int, prefix_lengths: Iterable[int] = ()) -> tuple[str, int, dict[int, str]]:
    """BLAKE3 (hex) and length of the decompressed content, and the BLAKE3 of its prefixes of the given lengths."""
    hasher, done, prefixes = blake3(), 0, {}
    waiting = sorted({length for length in prefix_lengths if length > 0})
    for chunk in expand(path, limit, CHUNK):
        start = 0
        while waiting and waiting[0] <= done + len(chunk):
            cut = waiting.pop(0)
            hasher.update(chunk[start : cut - done])
            start = cut - done
            prefixes[cut] = hasher.hexdigest()
        hasher.update(chunk[start:])
        done += len(chunk)
    return hasher.hexdigest(), done, prefixes


def identify(cluster: str, content_id: str, name: str | None = None) -> str:
    """`source_id`: BLAKE3 over cluster and content, and over the name where it carries data."""
    parts = (cluster, content_id) if name is None else (cluster, content_id, name)
    return blake3("\x00".join(parts).encode()).hexdigest()


def raw_digest(path: Path) -> str:
    """BLAKE3 of the bytes as they lie there: what stands for content that cannot be decompressed."""
    hasher = blake3()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            hasher.update(chunk)
    return hasher.hexdigest()


def expand(path: Path, limit: int, size: int) -> Iterator[bytes]:
    """The decompressed content in pieces. Raises Quarantine for damaged, cut or overlarge compressed files."""
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        opener = next((read for start, read in _READERS.items() if magic.startswith(start)), None)
        if opener is None:
            while chunk := file.read(size):
                yield chunk
            return
        yield from _bounded(opener(file, size), limit)


def _bounded(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """The same pieces, with the errors of the decompressors in our words and the total bounded."""
    total = 0
    try:
        for piece in pieces:
            total += len(piece)
            if total > limit:
                raise Quarantine(
                    "expanded_too_large", f"expands past max_expanded_bytes = {limit}: raise it if the file is right"
                )
            yield piece
    except EOFError as error:
        raise Quarantine("truncated_archive", "the compressed file ends early: copy it again") from error
    except (OSError, _ISAL_ERROR, lzma.LZMAError, zstandard.ZstdError) as error:
        raise Quarantine("damaged_archive", f"the compressed file cannot be read ({error}): copy it again") from error


def _gzip(file: BinaryIO, size: int) -> Iterator[bytes]:
    if _is_report(file):
        yield from _gzip_as_far_as_it_goes(file, size)
        return
    with igzip.IGzipFile(fileobj=file, mode="rb") as stream:  # type: ignore[no-untyped-call]
        while piece := stream.read(size):
            yield piece


def _is_report(file: BinaryIO) -> bool:
    """Whether a gzip holds a bug report of NVIDIA's driver, which is worth reading where it was cut."""
    start = file.read(HEAD)
    file.seek(0)
    try:
        return REPORT in isal_zlib.decompressobj(wbits=31).decompress(start, HEAD)
    except _ISAL_ERROR:
        return False


def _gzip_as_far_as_it_goes(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The first member of a gzip; one that ends early ends there."""
    decoder, data = isal_zlib.decompressobj(wbits=31), file.read(HEAD)
    while data and not decoder.eof:
        if piece := decoder.decompress(data, size):
            yield piece
        data = decoder.unconsumed_tail or file.read(HEAD)
    while not decoder.eof and (piece := decoder.decompress(b"", size)):
        yield piece


def _xz(file: BinaryIO, size: int) -> Iterator[bytes]:
    decoder, data = lzma.LZMADecompressor(memlimit=2 * MAX_WINDOW), b""
    while True:
        if decoder.needs_input or decoder.eof:
            data = (decoder.unused_data if decoder.eof else b"") + file.read(HEAD)
            if decoder.eof:
                if not data.strip(b"\x00"):
                    return
                decoder = lzma.LZMADecompressor(memlimit=2 * MAX_WINDOW)
            elif not data:
                raise EOFError
        piece = decoder.decompress(data, max_length=size)
        data = b""
        if piece:
            yield piece


class _WithEndFrame:
    """The file's bytes and then one small frame of our own.

    zstandard ends silently at a cut frame. Our frame comes out whole only if the file ended between frames.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = zstandard.ZstdCompressor().compress(_ZSTD_END)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes of the file, then the end frame, then nothing."""
        data = self._file.read(size)
        if not data:
            data, self._end = self._end, b""
        return data


def _zstd(file: BinaryIO, size: int) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
    tail = b""
    with decoder.stream_reader(_WithEndFrame(file), read_across_frames=True) as stream:  # type: ignore[arg-type]
        while piece := stream.read(size):
            tail += piece
            cut = max(0, len(tail) - len(_ZSTD_END))
            if cut:
                yield tail[:cut]
                tail = tail[cut:]
    if tail != _ZSTD_END:
        raise EOFError


_READERS = {b"\x1f\x8b": _gzip, b"\x28\xb5\x2f\xfd": _zstd, b"\xfd7zXZ\x00": _xz}
