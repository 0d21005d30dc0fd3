"""Scrapes of exporters: the GPUs of one scrape, their readings, and the gauges that keep a code for ever."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bathtub.ingest._metrics import Metric
from bathtub.ingest._quantities import Field, dcgm_fields, device, index, smi_fields
from bathtub.ingest._readings import Reading, is_blank
from bathtub.ingest._rows import Collector
from bathtub.ingest._samples import Moment, Seen, evidence, observation, sample
from bathtub.ingest._times import Stamp, checked
from bathtub.source import Source

COUNT = "DCGM_EXP_XID_ERRORS_COUNT"
INFO = "nvidia_smi_gpu_info"
LAST_MS = 4_102_444_800_000
# what nvidia_gpu_exporter leaves of GPU-5f4203f3-…
_BARE_UUID = re.compile(r"^[0-9a-f]{8}-")
TIME_UNITS = frozenset({"ns", "us", "ms", "s"})


@dataclass
class Gpu:
    """A GPU (or switch) of one scrape."""

    line: int
    labels: dict[str, str]
    stamp_ms: int | None
    raw: str
    reading: Reading = field(default_factory=Reading)
    states: list[tuple[Field, Metric]] = field(default_factory=list)


@dataclass
class Scrape:
    """The series and GPUs since the scrape began, and the gauges as they last stood."""

    series: set[str] = field(default_factory=set)
    gpus: dict[tuple[object, ...], Gpu] = field(default_factory=dict)
    gauges: dict[tuple[object, ...], str] = field(default_factory=dict)


def _key(labels: Mapping[str, str], stamp_ms: int | None) -> tuple[object, ...]:
    """What tells the GPUs of a scrape apart."""
    named = (labels.get("UUID") or labels.get("uuid"), labels.get("gpu") or labels.get("nvswitch"), labels.get("GPU_I_ID"))
    return (*named, labels.get("Hostname") or labels.get("hostname"), stamp_ms)


def column_of(metric: Metric) -> Field | None:
    """What a metric is read as; None where it is no column and no state."""
    if metric.name.startswith(COUNT):
        return Field("xid_count", "state", "", 1)
    if metric.name == INFO:
        return Field("info", "info", "", 1)
    return dcgm_fields().get(metric.name) or smi_fields("exporter").get(metric.name)


def add(scrape: Scrape, metric: Metric, known_as: Field, units: Mapping[str, str]) -> None:
    """One sample to the GPU that it is of."""
    labels = metric.labels or {}
    gpu = scrape.gpus.setdefault(_key(labels, metric.stamp_ms), Gpu(metric.line, dict(labels), metric.stamp_ms, metric.raw))
    scrape.series.add(metric.series)
    gpu.labels |= labels if known_as.kind == "info" else {}
    if known_as.kind == "state" and is_blank(metric.value):
        gpu.reading.blanks.append(known_as.quantity)
        gpu.reading.flags.append(f"blank:{known_as.quantity}")
    elif known_as.kind == "state":
        gpu.states.append((known_as, metric))
    elif known_as.kind != "info":
        unit = units.get(metric.name, "")
        is_counted = known_as.unit == "ns"
        gpu.reading.take(known_as, metric.value, unit if is_counted and unit in TIME_UNITS else "")
        if is_counted and unit not in TIME_UNITS:
            gpu.reading.flags.append(f"unit_assumed:{known_as.quantity}")


def _seen(gpu: Gpu, source: Source) -> Seen:
    labels = gpu.labels
    named = device(
        labels.get("pci_bus_id"),
        labels.get("UUID") or _BARE_UUID.sub(r"GPU-\g<0>", labels.get("uuid", "")),
        labels.get("DCGM_FI_DEV_SERIAL"),
        labels.get("gpu") or labels.get("index"),
    )
    stamp, clock = Stamp(source.collected_at, "observation"), "file"
    if gpu.stamp_ms is not None and 0 < gpu.stamp_ms < LAST_MS:
        stamp, clock = checked(Stamp(datetime.fromtimestamp(gpu.stamp_ms / 1000, UTC), "observation"), source), "poll"
    node = labels.get("Hostname") or labels.get("hostname") or source.settings.node
    written = None if gpu.stamp_ms is None else str(gpu.stamp_ms)
    named["gpu_instance"] = index(labels.get("GPU_I_ID"))
    return Seen(gpu.line, Moment(stamp, clock, written), node, named, {}, "dcgm", gpu.raw)


def _gauge(scrape: Scrape, seen: Seen, nth: int, known_as: Field, metric: Metric) -> Mapping[str, object] | None:
    """The state of a gauge where it is new or has changed."""
    labels = metric.labels or {}
    counted = labels.get("xid") if known_as.quantity == "xid_count" else metric.value
    key = (*_key(labels, None), metric.name, labels.get("xid"))
    before, scrape.gauges[key] = scrape.gauges.get(key), metric.value
    number = index(re.sub(r"\.0+$", "", counted or ""))
    if before == metric.value or (known_as.quantity == "xid_count" and before is None and index(metric.value) == 0):
        return None
    code_kind = "sxid" if known_as.quantity == "sxid_gauge" else "xid"
    columns = {
        "check_name": metric.name,
        "value": metric.value,
        "severity_word": known_as.unit or None,
        "message": labels.get("err_msg"),
    }
    entity = f"nvswitch {labels['nvswitch']}" if "nvswitch" in labels else None
    doubts = [] if number is not None else ["unreadable:code"]
    return {
        **observation(
            seen, nth, known_as.quantity, code=number or None, code_kind=code_kind if number else None, entity=entity, **columns
        ),
        "flags": doubts,
    }


def flush(collector: Collector, scrape: Scrape) -> None:
    """The rows of a scrape that is complete."""
    for gpu in scrape.gpus.values():
        seen = _seen(gpu, collector.source)
        rows = list(evidence(seen, gpu.reading))
        for known_as, metric in gpu.states:
            row = _gauge(scrape, seen, len(rows), known_as, metric)
            rows += [] if row is None else [row]
        for row in rows:
            collector.keep("observations", row)
        if gpu.reading.values or gpu.reading.flags:
            collector.keep("telemetry", sample(seen, gpu.reading))
    scrape.series.clear()
    scrape.gpus.clear()
