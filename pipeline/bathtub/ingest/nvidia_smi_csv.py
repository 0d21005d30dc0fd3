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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._quantities import device, known
from bathtub.ingest._readings import Reading
from bathtub.ingest._rows import Collector, conform
from bathtub.ingest._samples import Seen, keep, moment, observation, placed
from bathtub.ingest._smi_columns import cells as cells_of
from bathtub.ingest._smi_columns import identity, plain_samples
from bathtub.ingest._smi_header import ADDRESS, KEYS, LOST, Header, header_of, is_query, outputs
from bathtub.schema import table
from bathtub.source import Source

TABLES = (table("telemetry"), table("observations"), table("inventory"))


Places: TypeAlias = dict[object, tuple[object, ...]]
"""The device last seen at each address, by UUID and serial."""


def _claims(head: bytes, _name: str) -> bool:
    lines = head.decode("utf-8", "replace").splitlines()
    found = (header_of(line.strip()) for line in lines if "," in line and "." in line)
    return any(each is not None and is_query(each.names) for each in found)


def _seen(cells: Mapping[str, str], line: int, raw: str, source: Source) -> Seen:
    found = {key: next((cells[name] for name in names if name in cells), None) for key, names in KEYS.items()}
    about = {"model": known(cells.get("name") or cells.get("gpu_name")), "firmware": known(cells.get("vbios_version"))}
    node = source.settings.node or known(cells.get("hostname"))
    return Seen(line, moment(cells.get("timestamp"), source), node, device(**found), about, "nvidia-smi", raw)


def _sample(collector: Collector, header: Header, cells: Mapping[str, str], seen: Seen) -> None:
    """The rows of one sample, cell by cell."""
    reading = Reading()
    for name, known_as, unit in header.fields:
        reading.take(known_as, cells[name], unit)
    keep(collector, seen, reading)


def _place(collector: Collector, places: Places, seen: Seen) -> None:
    """The device in its slot, where it is new there."""
    found = (seen.device["device_uuid"], seen.device["device_serial"])
    place = seen.device["pci_bdf"] or seen.device["gpu_index"]
    row = placed(seen) if places.get(place) != found else None
    if row is not None:
        places[place] = found
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


def _record(collector: Collector, header: Header, line: int, text: str) -> None:
    """The rows of one line that is not plain."""
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
        _sample(collector, header, cells, seen)


def _block(collector: Collector, places: Places, header: Header, lines: Sequence[tuple[int, str]]) -> pl.DataFrame:
    """Rows of `telemetry` out of the plain lines of one output; the collector has all other rows."""
    source = collector.source
    frame = identity(header, cells_of(header, *zip(*lines, strict=True)), source)
    plain, mask = plain_samples(header, frame, source) if ADDRESS not in header.names else (frame.clear(), None)
    for line, text in lines if mask is None else [lines[at] for at in (~mask).arg_true()]:
        _record(collector, header, line, text)
    collector.kept += plain.height
    place, found = pl.coalesce("pci_bdf", pl.col("gpu_index").cast(pl.String())), pl.struct("device_uuid", "device_serial")
    whole = frame.with_row_index("at").filter("is_whole")
    is_new = whole.filter(found.ne_missing(found.shift().over(place)))["at"]
    for line, text in [lines[at] for at in is_new] if mask is not None else ():
        cells = dict(zip(header.names, text.split(header.delimiter), strict=True))
        _place(collector, places, _seen(cells, line, text, source))
    return conform(TABLES[0], plain, source) if mask is not None else conform(TABLES[0], [], source)


def _parse(source: Source) -> Iterator[Batch]:
    places: Places = {}
    for header, lines in outputs(source):
        if not lines:
            continue
        collector, plain = Collector(FORMAT.name, source), conform(TABLES[0], [], source)
        found = LOST.match(lines[0][1]) if header is None else None
        if found is not None:
            _lost(collector, *lines[0], found)
        elif header is not None and (is_query(header.names) or source.settings.columns):
            plain = _block(collector, places, header, lines)
        batch = collector.batch(len(lines))
        samples = pl.concat([plain, *(frame for name, frame in batch.frames.items() if name == "telemetry")]).sort("line")
        yield replace(batch, frames={**batch.frames, "telemetry": samples})


FORMAT = Format("nvidia_smi_csv", "1", "a line", TABLES, _claims, _parse)
