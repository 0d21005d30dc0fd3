"""Prometheus text, line by line: names, labels parsed once per series, values, time stamps, units out of the help texts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bathtub.ingest._numbered import numbered
from bathtub.source import Source

# DCGM_FI_DEV_GPU_TEMP{gpu="0", UUID="GPU-5f0c…"} 41 1767400000000
_LABEL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_REST = re.compile(r"\s*(\S+)(?:\s+(-?\d{1,15}))?\s*")
# # HELP DCGM_FI_DEV_POWER_VIOLATION Throttling duration due to power constraints (in us).
_HELP = re.compile(r"# HELP (\S+) .*\(in (\w{1,8}|%)\)")
SERIES_KEPT = 65536


@dataclass(frozen=True)
class Metric:
    """One sample of one series. `labels` is None where they cannot be read."""

    line: int
    name: str
    series: str
    labels: Mapping[str, str] | None
    value: str
    stamp_ms: int | None
    raw: str


@lru_cache(maxsize=SERIES_KEPT)
def labels_of(text: str) -> Mapping[str, str] | None:
    """The labels of a series; None where the text is not a list of them."""
    found, at = dict[str, str](), 0
    while at < len(text.rstrip()):
        label = _LABEL.match(text, at)
        if label is None:
            return None
        found[label[1]] = label[2].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        at = label.end()
    return found


def metrics(source: Source, units: dict[str, str]) -> Iterator[Metric]:
    """Every line that is no comment and not blank. Units that help texts state are put into `units` by name."""
    for line, raw in numbered(source):
        text = raw.decode("utf-8", "replace").strip()
        if text.startswith("#"):
            stated = _HELP.match(text)
            if stated is not None and len(units) < SERIES_KEPT:
                units[stated[1]] = stated[2]
        elif text:
            yield _metric(line, text)


def _metric(line: int, text: str) -> Metric:
    """A sample; a line that is none has an empty value."""
    series, brace, rest = text.rpartition("}")
    if not brace:
        series, _, rest = text.partition(" ")
    name, _, labels = series.partition("{")
    found = _REST.fullmatch(rest)
    if found is None or not _NAME.fullmatch(name):
        return Metric(line, name, series, None, "", None, text)
    return Metric(line, name, series, labels_of(labels), found[1], int(found[2]) if found[2] else None, text)
