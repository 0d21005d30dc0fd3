"""Rows out of readings: a sample of a GPU, the states that it is evidence of, and the device as it was seen in its slot."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bathtub.ingest._quantities import known
from bathtub.ingest._readings import Reading
from bathtub.ingest._rows import RAW_LIMIT, Collector, Row
from bathtub.ingest._times import UNKNOWN, Stamp, iso
from bathtub.source import Source

BATCH_ROWS = 20_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# 2026/07/14 08:12:38.696
_SLASHES = re.compile(r"(\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?)", re.ASCII)
# Fri Aug  4 11:44:30 2023
_CTIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})", re.ASCII)


@dataclass(frozen=True)
class Moment:
    """When a poller looked: the instant, the clock that says so, the text as written."""

    stamp: Stamp
    time_source: str
    written: str | None = None

    @property
    def columns(self) -> Row:
        """The columns of a row's time."""
        return {
            "seen_at": self.stamp.at,
            "time_source": self.time_source,
            "time_quality": self.stamp.quality,
            "seen_at_raw": self.written,
            "zone_assumed": self.stamp.zone_assumed,
        }


def local_time(text: str, source: Source) -> Stamp:
    """A time of nvidia-smi: local, without a zone. Raises Quarantine(`zone_required`)."""
    slashes, words = _SLASHES.fullmatch(text.strip()), _CTIME.fullmatch(text.strip())
    if slashes is not None:
        return iso(f"{slashes[1]}-{slashes[2]}-{slashes[3]}T{slashes[4]}", source)
    if words is not None and words[1] in _MONTHS:
        return iso(f"{words[4]}-{_MONTHS.index(words[1]) + 1:02}-{int(words[2]):02}T{words[3]}", source)
    return UNKNOWN


def moment(text: str | None, source: Source) -> Moment:
    """When a sample was taken; without a stamp, when its file was collected: at or before."""
    if known(text) is None:
        return Moment(Stamp(source.collected_at, "observation"), "file")
    return Moment(local_time(str(text), source), "poll", text)


@dataclass(frozen=True)
class Seen:
    """One look at one GPU: where in the file, when, on which node, which device, and what else identifies it."""

    line: int
    moment: Moment
    node: str | None
    device: Mapping[str, object]
    about: Mapping[str, str | None]
    tool: str
    raw: str


def sample(seen: Seen, reading: Reading) -> Row:
    """The row of `telemetry`."""
    return {"line": seen.line, **seen.moment.columns, "node": seen.node, **seen.device, **reading.columns()}


def observation(seen: Seen, nth: int, kind: str, **columns: object) -> Row:
    """A row of `observations`."""
    return {
        "line": seen.line,
        **seen.moment.columns,
        "node": seen.node,
        "raw": seen.raw[:RAW_LIMIT],
        "nth": nth,
        "kind": kind,
        "tool": seen.tool,
        **seen.device,
        "first_at": seen.moment.stamp.at,
        "last_at": seen.moment.stamp.at,
        "n_seen": 1,
        "flags": [],
        **columns,
    }


def evidence(seen: Seen, reading: Reading) -> Iterator[Row]:
    """What a failing GPU answers in place of values, a row per word; and that values are missing that once were asked for."""
    found = [("nvidia_smi_error", word, fields) for word, fields in sorted(reading.evidence.items())]
    found += [("missing_data", "blank", reading.blanks)] if reading.blanks else []
    for nth, (kind, word, fields) in enumerate(found):
        yield observation(seen, nth, kind, value=word, message=", ".join(sorted(set(fields))), is_healthy=False)


def placed(seen: Seen) -> Row | None:
    """The device in its slot, as seen at that time; None where the look names no node or no device."""
    if seen.node is None or not (seen.device["device_uuid"] or seen.device["device_serial"]):
        return None
    slot = seen.about.get("slot")
    return {
        "line": seen.line,
        "seen_at": seen.moment.stamp.at,
        "time_source": "poll",
        "time_quality": "observation" if seen.moment.stamp.at is not None else "unknown",
        "node": seen.node,
        "slot": slot,
        "device_class": "gpu",
        **{name: seen.device[name] for name in ("pci_bdf", "device_uuid", "device_serial")},
        **{name: seen.about.get(name) for name in ("part_number", "model", "firmware", "extra")},
        "vendor": "nvidia",
    }


def keep(collector: Collector, seen: Seen, reading: Reading) -> None:
    """All rows of one look but its place; the record is counted."""
    collector.kept += 1
    collector.keep("telemetry", sample(seen, reading))
    for row in evidence(seen, reading):
        collector.keep("observations", row)
