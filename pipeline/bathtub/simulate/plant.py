"""What people keep by hand: the inventory of the slots and the planned windows; and the truth beside them."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bathtub.simulate.cluster import CLUSTER, NODES, SLOTS, STARTED_AT, Gpu, clock, gpus, local, new_gpu, rng
from bathtub.simulate.jobs import Incident, replacement
from bathtub.simulate.plan import MAINTENANCE_HHMM, REPLACED

PER_RACK = 8
LOTS = (
    ("Acme Systems", "L2504", STARTED_AT - timedelta(days=280)),
    ("Borealis Compute", "L2511", STARTED_AT - timedelta(days=95)),
)
MODEL = "NVIDIA H100 80GB HBM3"
PART_NUMBER = "692-2G520-0200-000"
FIRMWARE = "96.00.99.00.01"
INVENTORY = (
    "cluster", "node", "rack", "slot", "device_class", "pci_bdf", "device_uuid", "device_serial", "part_number",
    "vendor", "model", "lot", "firmware", "in_service_at", "removed_at",
)  # fmt: skip
TRUTH = (
    "planted_id", "started_at", "node", "pci_bdf", "device_serial", "job_ids", "component", "expected_component",
    "expected_cause", "is_failure", "is_planned", "has_evidence", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Installed:
    """One GPU in its slot, from when to when."""

    gpu: Gpu
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True)
class Fleet:
    """Every GPU that stood in a slot."""

    installed: tuple[Installed, ...]

    def cards(self, node: str, seen_at: datetime) -> tuple[Gpu, ...]:
        """The GPUs of a node at a moment, by index."""
        there = (each for each in self.installed if each.gpu.node == node and each.since <= seen_at)
        return tuple(each.gpu for each in there if each.until is None or seen_at < each.until)


def fleet(seed: int, incidents: list[Incident]) -> Fleet:
    """The GPUs as delivered, in two lots, and the one that is replaced after its incident."""
    swap = next(incident for incident in incidents if incident.row.planted_id == REPLACED)
    removed_at, back_at = replacement(swap)
    first = gpus(seed)
    found: list[Installed] = []
    for node in NODES:
        for gpu in first[node]:
            is_swapped = (node, gpu.index) == (swap.node, swap.device)
            found.append(Installed(gpu, _lot(node)[2], removed_at if is_swapped else None))
            if is_swapped:
                found.append(Installed(new_gpu(seed, node, gpu.index, "second", has_zero=True), back_at))
    return Fleet(tuple(found))


def inventory(known: Fleet, seed: int) -> bytes:
    """One row per GPU and stay in a slot, and one per node."""
    rows: list[Sequence[object]] = []
    for node in NODES:
        vendor, lot, since = _lot(node)
        serial = f"0{rng(seed, 'chassis', node).randrange(10**12):012}"
        rows.append((CLUSTER, node, _rack(node), "", "node", "", "", serial, "", vendor, "", lot, "", _utc(since), ""))
    for each in known.installed:
        gpu = each.gpu
        vendor, lot, _ = _lot(gpu.node)
        what = (f"gpu{gpu.index}", "gpu", gpu.pci_bdf, gpu.uuid, gpu.serial, PART_NUMBER, vendor, MODEL, lot, FIRMWARE)
        rows.append((CLUSTER, gpu.node, _rack(gpu.node), *what, _utc(each.since), _utc(each.until)))
    return _csv(INVENTORY, rows)


def maintenance(incidents: list[Incident]) -> bytes:
    """The planned windows in local time: the reboot, the replaced GPU, and one in which nothing happened."""
    rows: list[tuple[str, datetime, datetime, str, str]] = []
    for incident in incidents:
        if incident.row.is_planned:
            rows.append((incident.node, *_window(incident.row.day, MAINTENANCE_HHMM), "firmware update, reboot", "OPS-118"))
        if incident.row.planted_id == REPLACED:
            rows.append((incident.node, *replacement(incident), f"replace GPU {SLOTS[incident.device]}", "OPS-112"))
    rows.append(("gpu-a[13-14]", *_window(1, ("06:00", "06:30")), "cable check", "OPS-109"))
    rows.sort(key=lambda row: row[1])
    times = [
        (nodes, f"{local(since):%Y-%m-%dT%H:%M:%S}", f"{local(until):%Y-%m-%dT%H:%M:%S}", *why)
        for nodes, since, until, *why in rows
    ]
    return _csv(("nodes", "started_at", "ended_at", "reason", "ticket"), times)


def truth(incidents: list[Incident], known: Fleet) -> bytes:
    """One row per planted incident: what really failed, and what a right judge says of it."""
    return _csv(TRUTH, [_truth(incident, known) for incident in sorted(incidents, key=lambda each: each.started_at)])


def _truth(incident: Incident, known: Fleet) -> Sequence[object]:
    row = incident.row
    gpu = known.cards(incident.node, incident.started_at)[incident.device] if row.has_device else None
    return (
        row.planted_id,
        _utc(incident.started_at),
        incident.node,
        gpu.pci_bdf if gpu else "",
        gpu.serial if gpu else "",
        ";".join(dict.fromkeys(str(attempt.job_id) for attempt in incident.attempts)),
        row.component,
        row.expected_component,
        row.expected_cause,
        *(str(flag).lower() for flag in (row.is_failure, row.is_planned, bool(row.script or row.dumps))),
        row.note,
    )


def _lot(node: str) -> tuple[str, str, datetime]:
    """Vendor, lot and first day: each rack is one delivery."""
    return LOTS[NODES.index(node) // PER_RACK]


def _rack(node: str) -> str:
    return f"r{NODES.index(node) // PER_RACK + 1}"


def _window(day: int, hhmm: tuple[str, str]) -> tuple[datetime, datetime]:
    return clock(day, hhmm[0]), clock(day, hhmm[1])


def _utc(seen_at: datetime | None) -> str:
    return f"{seen_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if seen_at else ""


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()
