"""Devices in their slots, written by hand or exported from a data base of assets, as CSV.

    cluster,node,rack,slot,device_class,pci_bdf,device_uuid,device_serial,part_number,vendor,model,lot,firmware,in_service_at,removed_at
    ,gpu-a01,r12,3,GPU,00000000:3B:00.0,GPU-5f0c,0012345678901,900-21001,acme,h100,L7,96.00.89,2025-11-03,

Any order of columns, and comma, semicolon or tab between them; all cells but node and device_class may be blank, and
columns may be missing. Further columns are kept as JSON text in `extra`. Times may be bare dates (midnight) and their
columns may end in `_utc`; other times without a zone have the source's. Serials are text: leading zeros stay, and one
of zeros alone is a placeholder and null. A cell of `cluster` overrides the source's cluster. `seen_at` is when the file
was collected: that is when the device was said to be there. A record is a row; blank rows and the header are not counted.

Rejects: field_count, bad_node, no_device_class, bad_pci_bdf, bad_in_service_time, bad_removed_time, ends_before_start.
Quarantine: zone_required, bad_csv, file_too_large.
"""

import re
from collections.abc import Iterator

import polars as pl

from bathtub.ingest import Batch, Format
from bathtub.ingest._handwritten import Record, first_line, header_of, moment, records, spelling
from bathtub.ingest._messages._addresses import device_key
from bathtub.ingest._rows import Row, conform, rejects
from bathtub.schema import table
from bathtub.source import Source

TEXTS = ("rack", "slot", "device_uuid", "part_number", "vendor", "model", "lot", "firmware")
INVENTORY = table("inventory")
_NODE = re.compile(r"[A-Za-z0-9_.\-]+")
_ZEROS = re.compile(r"0+")


def _claims(head: bytes, _name: str) -> bool:
    names, _ = header_of(first_line(head.decode("utf-8", "replace")))
    return "node" in names and "device_class" in names


def _row(record: Record, source: Source) -> Row | str:
    """The row of a device, or why there is none."""
    node, device_class, address = (record.text(name) for name in ("node", "device_class", "pci_bdf"))
    if not record.is_complete:
        return "field_count"
    if node is None or not _NODE.fullmatch(node):
        return "bad_node"
    if device_class is None:
        return "no_device_class"
    if address is not None and device_key(address) is None:
        return "bad_pci_bdf"
    times = _service(record, source)
    if isinstance(times, str):
        return times
    serial = record.text("device_serial")
    used = {column[0] for name in ("in_service_at", "removed_at") if (column := spelling(record.cells, name))}
    return {
        "line": record.line,
        "cluster": record.text("cluster") or source.cluster,
        "seen_at": source.collected_at,
        "time_source": "file",
        "time_quality": "observation",
        "node": node,
        "device_class": device_class.lower(),
        "pci_bdf": device_key(address),
        "device_serial": None if serial is None or _ZEROS.fullmatch(serial) else serial,
        **{name: record.text(name) for name in TEXTS},
        **times,
        "extra": record.further({"cluster", "node", "device_class", "pci_bdf", "device_serial", *TEXTS, *used}),
    }


def _service(record: Record, source: Source) -> Row | str:
    """When a device came and went, or why that cannot be read."""
    came, went = moment(record, source, "in_service_at"), moment(record, source, "removed_at")
    if came is not None and came.at is None:
        return "bad_in_service_time"
    if went is not None and went.at is None:
        return "bad_removed_time"
    in_service_at, removed_at = came.at if came else None, went.at if went else None
    if in_service_at is not None and removed_at is not None and removed_at < in_service_at:
        return "ends_before_start"
    return {"in_service_at": in_service_at, "removed_at": removed_at}


def _parse(source: Source) -> Iterator[Batch]:
    """The one batch of a table."""
    rows: list[Row] = []
    refused: list[tuple[int, str, str]] = []
    for record in records(source):
        found = _row(record, source)
        if isinstance(found, str):
            refused.append((record.line, found, record.raw))
        else:
            rows.append(found)
    clusters = pl.Series("cluster", [row["cluster"] for row in rows], dtype=pl.String)
    frame = conform(INVENTORY, rows, source).with_columns(clusters)
    refusals = rejects(refused, FORMAT.name, source)
    yield Batch({"inventory": frame}, refusals, len(rows) + len(refused), len(rows), len(refused), 0)


FORMAT = Format("inventory_csv", "1", "a row", (INVENTORY,), _claims, _parse, on_change="replaces")
