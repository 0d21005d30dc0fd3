"""The header of a `--query-…` output of nvidia-smi: names and units of its columns, and the keys of its rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bathtub.ingest._numbered import numbered
from bathtub.ingest._quantities import Field, smi_fields
from bathtub.source import Source

KEYS = {
    "pci": ("pci.bus_id", "gpu_bus_id", "bus_id"),
    "uuid": ("uuid", "gpu_uuid"),
    "serial": ("serial", "gpu_serial"),
    "number": ("index",),
}
NAMES = ("timestamp", "name", "gpu_name", "driver_version", "vbios_version", "inforom.img", "count", "hostname", "pstate")
_NAMES = frozenset(name for names in KEYS.values() for name in names) | frozenset(NAMES)
_HEAD_CELL = re.compile(r"([a-z][A-Za-z0-9_.]*)(?: \[([^\]]{1,8})\])?")
# Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU
LOST = re.compile(r"Unable to determine the device handle for (?:GPU ?|gpu )([0-9A-Fa-f:.]{7,20}): ([^.]{1,200})")
BLOCK_LINES = 65536
ADDRESS = "retired_pages.address"


@dataclass(frozen=True)
class Header:
    """The columns of one output: names and units in order, what stands between cells."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    delimiter: str

    @property
    def fields(self) -> list[tuple[str, Field, str]]:
        """(name, field, unit) of the columns that are read, each name once."""
        units = dict(zip(reversed(self.names), reversed(self.units), strict=True))
        return [(name, smi_fields("csv")[name], unit) for name, unit in reversed(units.items()) if name in smi_fields("csv")]


def header_of(line: str) -> Header | None:
    """The header that a line is; None for any other line."""
    delimiter = ", " if ", " in line else ","
    cells = [_HEAD_CELL.fullmatch(cell.strip()) for cell in line.split(delimiter)]
    names = tuple(cell[1] for cell in cells if cell is not None)
    readable = _NAMES | smi_fields("csv").keys() | {ADDRESS}
    if len(names) != len(cells) or len(names) < 2 or not any(name in readable for name in names):  # noqa: PLR2004 - one name is a word
        return None
    if not any("." in name or name in _NAMES - {"name", "count", "index"} for name in names):
        return None
    return Header(names, tuple((cell[2] or "") if cell else "" for cell in cells), delimiter)


def is_query(names: Sequence[str]) -> bool:
    """Whether the columns are those of GPUs: some key or time, and some field with a dot."""
    return any(name in _NAMES for name in names) and any(
        "." in name and (name in smi_fields("csv") or name == ADDRESS) for name in names
    )


def outputs(source: Source) -> Iterator[tuple[Header | None, list[tuple[int, str]]]]:
    """(header, lines) of each output, in pieces; lines that are no sample of an output come without a header."""
    columns, held = source.settings.columns, list[tuple[int, str]]()
    header = Header(columns, ("",) * len(columns), source.settings.delimiter or ", ") if columns else None
    for line, raw in numbered(source):
        text = raw.decode("utf-8", "replace").strip("\r\n")
        if not text[:1].isdigit() and (not text.strip() or text.startswith("#") or header_of(text.strip()) or LOST.match(text)):
            yield header, held
            held = []
            if LOST.match(text):
                yield None, [(line, text)]
            elif text.startswith("####") and not columns:
                header = None
            elif text.strip() and not text.startswith("#"):
                header = header_of(text.strip())
            continue
        held.append((line, text))
        if len(held) >= BLOCK_LINES:
            yield header, held
            held = []
    yield header, held
