"""`nvidia-smi --query-gpu=… --format=csv`: a line per GPU and sample; one file can hold many outputs.

    timestamp, index, uuid, pci.bus_id, temperature.gpu, power.draw [W]
    2026/07/14 08:12:38.696, 0, GPU-5f0c…, 00000000:3B:00.0, 41, 69.85 W

Columns are found by their names in the header, which may repeat; units stand in the header, in the cells (`nounits`
leaves them out) or are those of the field. Between outputs there can be rulers, comments (`#`) and outputs of other
commands. `--query-retired-pages` gives a state for each page; its placeholder rows (no address) are out of scope.
`nounits,noheader` output is claimed by the configuration, with its columns. Times are local: the source's zone.
`[N/A]` and its like are null; `Unknown Error`, `ERR!` and `requires reset` are null and a state of the GPU besides, as
is the line that stands in place of a GPU that does not answer.
The devices are rows of `inventory` when first seen in the file and whenever another stands at the address.

A record is a line that is no header, ruler, comment or blank; those of other outputs are out of scope.
Rejects: field_count, no_device.
Quarantine: zone_required, line_too_long.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bathtub.ingest import Batch, Format
from bathtub.ingest._numbered import numbered
from bathtub.ingest._quantities import device, known, smi_fields
from bathtub.ingest._readings import Reading
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import BATCH_ROWS, Seen, keep, moment, observation, placed
from bathtub.ingest._smi_header import ADDRESS, KEYS, Header, header_of, is_query
from bathtub.schema import table
from bathtub.source import Source

# Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU
_LOST = re.compile(r"Unable to determine the device handle for (?:GPU ?|gpu )([0-9A-Fa-f:.]{7,20}): ([^.]{1,200})")
TABLES = (table("telemetry"), table("observations"), table("inventory"))


@dataclass
class State:
    """Where the scan is: the header in force, and the device last seen at each address."""

    header: Header | None
    places: dict[object, tuple[object, ...]] = field(default_factory=dict)


def _claims(head: bytes, _name: str) -> bool:
    lines = head.decode("utf-8", "replace").splitlines()
    found = (header_of(line.strip()) for line in lines if "," in line and "." in line)
    return any(each is not None and is_query(each.names) for each in found)


def _seen(cells: Mapping[str, str], line: int, raw: str, source: Source) -> Seen:
    found = {key: next((cells[name] for name in names if name in cells), None) for key, names in KEYS.items()}
    about = {"model": known(cells.get("name") or cells.get("gpu_name")), "firmware": known(cells.get("vbios_version"))}
    node = source.settings.node or known(cells.get("hostname"))
    return Seen(line, moment(cells.get("timestamp"), source), node, device(**found), about, "nvidia-smi", raw)


def _sample(collector: Collector, state: State, header: Header, cells: Mapping[str, str], seen: Seen) -> None:
    reading, fields = Reading(), smi_fields("csv")
    for name, unit in zip(header.names, header.units, strict=True):
        if name in fields:
            reading.take(fields[name], cells[name], unit)
    keep(collector, seen, reading)
    found = (seen.device["device_uuid"], seen.device["device_serial"])
    place = seen.device["pci_bdf"] or seen.device["gpu_index"]
    row = placed(seen) if state.places.get(place) != found else None
    if row is not None:
        state.places[place] = found
        collector.keep("inventory", row)


def _page(collector: Collector, cells: Mapping[str, str], seen: Seen) -> None:
    """A retired page; a placeholder without an address is none."""
    if known(cells[ADDRESS]) is None:
        return
    collector.kept += 1
    at, cause = known(cells.get("retired_pages.timestamp")), known(cells.get("retired_pages.cause"))
    row = observation(seen, 0, "retired_page", check_name=cause, value=cells[ADDRESS].strip(), message=at, is_healthy=False)
    collector.keep("observations", row)


def _lost(collector: Collector, line: int, text: str, found: re.Match[str]) -> None:
    """What stands in place of the row of a GPU that does not answer."""
    seen = _seen({"pci.bus_id": found[1]}, line, text, collector.source)
    collector.kept += 1
    collector.keep("observations", observation(seen, 0, "nvidia_smi_error", value="gpu_lost", message=found[2], is_healthy=False))


def _record(collector: Collector, state: State, line: int, text: str) -> None:
    header, lost = state.header, _LOST.match(text)
    if lost is not None:
        _lost(collector, line, text, lost)
        return
    if header is None or not (is_query(header.names) or collector.source.settings.columns):
        return
    parts = text.split(header.delimiter)
    if len(parts) != len(header.names):
        collector.reject(line, "field_count", text)
        return
    cells = dict(zip(header.names, parts, strict=True))
    seen = _seen(cells, line, text, collector.source)
    if all(value is None for value in seen.device.values()):
        collector.reject(line, "no_device", text)
    elif ADDRESS in cells:
        _page(collector, cells, seen)
    else:
        _sample(collector, state, header, cells, seen)


def _parse(source: Source) -> Iterator[Batch]:
    columns = source.settings.columns
    state = State(Header(columns, ("",) * len(columns), source.settings.delimiter or ", ") if columns else None)
    collector, read = Collector(FORMAT.name, source), 0
    for line, raw in numbered(source):
        text = raw.decode("utf-8", "replace").strip("\r\n")
        if not text.strip() or text.startswith("#"):
            state.header = None if text.startswith("####") and not columns else state.header
            continue
        found = header_of(text.strip()) if text[:1].isalpha() else None
        if found is not None:
            state.header = found
            continue
        read += 1
        _record(collector, state, line, text)
        if read >= BATCH_ROWS:
            yield collector.batch(read)
            collector, read = Collector(FORMAT.name, source), 0
    yield collector.batch(read)


FORMAT = Format("nvidia_smi_csv", "1", "a line", TABLES, _claims, _parse)
