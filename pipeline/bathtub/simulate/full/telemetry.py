"""What pollers saw: nvidia-smi CSV on some nodes, DCGM's exporter on others, and nvidia-smi XML as an inventory."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from bathtub.simulate.full.devices import MODELS, Parts
from bathtub.simulate.full.events import History
from bathtub.simulate.full.files import opened
from bathtub.simulate.full.settings import DAY_S, GPUS_PER_NODE, HOUR_S, Settings, local, midnight
from bathtub.simulate.full.topology import DRIVERS, PER_RACK, SLOTS, Node, gpu_c
from bathtub.simulate.full.wrappers import epoch, stamp_name

Spans = Sequence[tuple[float, float]]
SMI = (
    "timestamp, index, serial, uuid, pci.bus_id, temperature.gpu, power.draw [W], utilization.gpu [%], "
    "clocks_event_reasons.active\n"
)
DCGM = (
    ("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C)."),
    ("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)."),
    ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %)."),
)


def write(folder: Path, settings: Settings, parts: Parts, history: History) -> None:
    """Every file, a rack at a time."""
    for rack in range(parts.fleet.n_racks):
        nodes = [node for node in parts.fleet.nodes if node.rack == rack]
        busy = _spans(history, nodes)
        dark = {node.index: [each.dark for each in history.outages if each.node == node.index and each.dark] for node in nodes}
        for node in nodes:
            if node.style in {"messages", "iso"}:
                _write_smi(folder, settings, parts, node, busy[node.index], dark[node.index])
        exported = [node for node in nodes if node.style in {"journal", "rack"}]
        for day in range(settings.n_days if exported else 0):
            at_s = midnight(day + 1) - 60
            with opened(folder / "dcgm" / f"r{rack + 1:03}-{stamp_name(midnight(day) + HOUR_S)}.prom", at_s) as file:
                for node in exported:
                    file.writelines(_dcgm(settings, parts, node, day, busy[node.index], dark[node.index]))
        for node in nodes:
            _write_xml(folder, settings, parts, node)


def _spans(history: History, nodes: list[Node]) -> dict[int, list[tuple[float, float]]]:
    """When the nodes of a rack had a job."""
    found: dict[int, list[tuple[float, float]]] = {node.index: [] for node in nodes}
    first = nodes[0].index
    for attempt in history.attempts:
        place = bisect_left(attempt.nodes, first)
        for node in attempt.nodes[place : place + PER_RACK]:
            if node in found:
                found[node].append((attempt.started_s, attempt.ended_s))
    return found


def _within(spans: Spans, at_s: float) -> bool:
    known = bisect_right(spans, at_s, key=lambda span: span[0])
    return bool(known) and at_s < spans[known - 1][1]


def _samples(settings: Settings, node: Node, day: int, busy: Spans, dark: Spans) -> Iterator[tuple[float, int, int, float, int]]:
    """(time, slot, temperature, power, utilisation) of each GPU at each sampling of a day."""
    chance = settings.rng("telemetry", node.index, day)
    for hour in range(0, 24, settings.sample_h):
        at_s = midnight(day) + hour * HOUR_S + 240 + node.index % 60
        shifts, loads = chance.normal(0, 1.2, GPUS_PER_NODE), chance.uniform(0.85, 1, GPUS_PER_NODE)
        if at_s >= settings.end_s or _within(dark, at_s):
            continue
        is_busy = _within(busy, at_s)
        for slot in range(GPUS_PER_NODE):
            load = float(loads[slot]) if is_busy else 0.0
            degrees = round(gpu_c(node, hour, at_s / DAY_S, load) + float(shifts[slot]))
            yield at_s, slot, degrees, 70 + 610 * load, round(100 * load)


def _write_smi(folder: Path, settings: Settings, parts: Parts, node: Node, busy: Spans, dark: Spans) -> None:
    """`nvidia-smi --query-gpu=… --format=csv`, appended to over a week."""
    for first in range(0, settings.n_days, 7):
        days = range(first, min(first + 7, settings.n_days))
        with opened(
            folder / "smi" / node.name / f"smi-{stamp_name(midnight(days[-1]) + HOUR_S)}.csv", midnight(days[-1] + 1)
        ) as file:
            file.write(SMI.encode())
            for day in days:
                for at_s, slot, degrees, power_w, used in _samples(settings, node, day, busy, dark):
                    part, there = parts.part("gpu", node.index, slot, at_s), local(at_s + node.skew_s)
                    stamp = f"{there:%Y/%m/%d %H:%M:%S}.{there.microsecond // 1000:03}"
                    reasons = "0x0000000000000004" if used else "0x0000000000000001"
                    head = f"{stamp}, {slot}, {part.serial}, {part.uuid}, 0000{SLOTS[slot].upper()}.0"
                    file.write(f"{head}, {degrees}, {power_w:.2f} W, {used} %, {reasons}\n".encode())


def _dcgm(settings: Settings, parts: Parts, node: Node, day: int, busy: Spans, dark: Spans) -> Iterator[bytes]:
    """Scrapes of one node and day, with the time of each."""
    for at_s, slot, degrees, power_w, used in _samples(settings, node, day, busy, dark):
        part = parts.part("gpu", node.index, slot, at_s)
        labels = f'gpu="{slot}",UUID="{part.uuid}",pci_bus_id="0000{SLOTS[slot].upper()}.0",device="nvidia{slot}"'
        labels += f',modelName="{MODELS["gpu"][0]}"'
        for (name, text), value in zip(DCGM, (degrees, f"{power_w:.3f}", used), strict=True):
            if slot == 0:
                yield f"# HELP {name} {text}\n# TYPE {name} gauge\n".encode()
            yield f'{name}{{{labels},Hostname="{node.name}"}} {value} {epoch(at_s)}000\n'.encode()


def _write_xml(folder: Path, settings: Settings, parts: Parts, node: Node) -> None:
    """`nvidia-smi -q -x` on the first day, and after each repair of a GPU."""
    moved = [move.at_s + HOUR_S for move in parts.moves if move.node == node.index and move.device_class == "gpu"]
    for at_s in [6 * HOUR_S, *moved]:
        if at_s < settings.end_s:
            there = local(at_s)
            with opened(folder / "xml" / node.name / f"nvidia-smi-{there:%Y%m%d}-{there:%H%M}.xml", at_s) as file:
                file.writelines(_document(parts, node, at_s))


def _document(parts: Parts, node: Node, at_s: float) -> Iterator[bytes]:
    yield b'<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n'
    yield f"\t<timestamp>{local(at_s):%a %b %d %H:%M:%S %Y}</timestamp>\n".encode()
    yield f"\t<driver_version>{DRIVERS[node.rack % len(DRIVERS)]}</driver_version>\n".encode()
    yield f"\t<attached_gpus>{GPUS_PER_NODE}</attached_gpus>\n".encode()
    model, number, vbios = MODELS["gpu"]
    for slot, bdf in enumerate(SLOTS):
        part, bus = parts.part("gpu", node.index, slot, at_s), f"0000{bdf.upper()}.0"
        degrees = round(gpu_c(node, 6, at_s / DAY_S, 0.0))
        yield (
            f'\t<gpu id="{bus}">\n\t\t<product_name>{model}</product_name>\n\t\t<serial>{part.serial}</serial>\n'
            f"\t\t<uuid>{part.uuid}</uuid>\n\t\t<minor_number>{slot}</minor_number>\n\t\t<vbios_version>{vbios}</vbios_version>\n"
            f"\t\t<board_part_number>{number}</board_part_number>\n\t\t<pci><pci_bus_id>{bus}</pci_bus_id></pci>\n"
            "\t\t<utilization><gpu_util>0 %</gpu_util></utilization>\n"
            f"\t\t<temperature><gpu_temp>{degrees} C</gpu_temp></temperature>\n"
            "\t\t<gpu_power_readings><power_draw>70.10 W</power_draw></gpu_power_readings>\n\t</gpu>\n"
        ).encode()
    yield b"</nvidia_smi_log>\n"
