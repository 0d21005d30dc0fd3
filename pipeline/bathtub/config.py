"""bathtub.toml: clusters, sources, zones, node names, windows, limits.

Precedence: a flag, then the file, then the default. Unknown keys are an error. A source's own zone stands above the
cluster's, since it is a fact about that file; `--tz` replaces the cluster's.
"""

import re
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec

from bathtub.source import MACHINE_ZONES, MAX_EXPANDED, Settings

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Ratio = Annotated[float, msgspec.Meta(ge=0, le=1)]


class ConfigError(Exception):
    """The configuration cannot be used: names the key and the remedy. Exit code 2."""


class Cluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The cluster whose logs these are. `zone` is the zone of zone-less text and of civil days.

    `longitude_deg` (east positive) gives the solar hour in the rates by hour; without it there is none.
    """

    name: str = "default"
    zone: str | None = None
    node_name: str = "short"
    longitude_deg: Annotated[float, msgspec.Meta(ge=-180, le=180)] | None = None


class SourceRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What holds for files below the inbox whose path matches; the first matching rule holds.

    `path` is a glob (`*` within a folder, `**` across) in which `{node}` and `{job_id}` name a part to be taken. `epoch` is when
    the relative times of a trace begin; `booted_at` is when the machine was booted (`uptime -s`) whose log has only times since
    boot, in the source's zone unless it has an offset of its own.
    """

    path: str
    format: str | None = None
    cluster: str | None = None
    zone: str | None = None
    node: str | None = None
    columns: tuple[str, ...] = ()
    delimiter: str | None = None
    epoch: datetime | None = None
    booted_at: datetime | None = None
    collected_at: datetime | None = None


class Windows(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The windows of the judgement, in seconds.

    A fault that puts a GPU or a node out of use may come long before the attempt's end: the collective's timeout (10
    to 30 minutes) and the scheduler's (5 minutes) pass first. A program's fault ends it at once. Fault lines may be
    written after the end that the scheduler recorded. The scheduler notices a lost node after its SlurmdTimeout, and
    submits a requeued job again at once. Dumps of one job lie within minutes of each other; a collective
    without a timeout of its own has the library's default. Pods of one job that end within the same
    timeout of each other end together.
    """

    burst_gap_s: Seconds = 5.0
    attempt_before_end_s: Seconds = 2400.0
    program_before_end_s: Seconds = 300.0
    attempt_after_end_s: Seconds = 120.0
    dump_after_end_s: Seconds = 3600.0
    host_link_s: Seconds = 60.0
    slurmd_timeout_s: Seconds = 300.0
    requeue_gap_s: Seconds = 3600.0
    gang_window_s: Seconds = 600.0
    dump_gap_s: Seconds = 60.0
    collective_timeout_s: Seconds = 600.0


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is too much or too little."""

    max_expanded_bytes: Positive = MAX_EXPANDED
    max_reject_ratio: Ratio = 0.05
    min_coverage_ratio: Ratio = 0.5
    memory: Annotated[str, msgspec.Meta(pattern=r"^\d+ ?[KMGT]i?B$")] = "2GB"
    threads: Positive = 2


class Lake(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the lake is kept: days after which old versions go, and how late data may be without a warning."""

    retention_days: Positive = 365
    lookback_days: Positive = 3


class Knowledge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user's own rows, over the shipped ones: files beside the configuration, by knowledge table."""

    rules: str | None = None
    rule_conditions: str | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole configuration. `folder` is where its file stands (relative paths start there)."""

    cluster: Cluster = Cluster()
    source: tuple[SourceRule, ...] = ()
    windows: Windows = Windows()
    limits: Limits = Limits()
    lake: Lake = Lake()
    knowledge: Knowledge = Knowledge()
    level: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.95
    folder: str = "."

    def settings(self, full_name: str) -> Settings:
        """What holds for one file of the inbox."""
        for rule in self.source:
            found = _pattern(rule.path).fullmatch(full_name)
            if found is not None:
                return self._settings(rule, found.groupdict())
        return self._settings(SourceRule(path="**"), {})

    def _settings(self, rule: SourceRule, taken: dict[str, str]) -> Settings:
        return Settings(
            cluster=rule.cluster or self.cluster.name,
            zone=rule.zone or self.cluster.zone,
            node=taken.get("node") or rule.node,
            job_id=taken.get("job_id"),
            collected_at=rule.collected_at,
            format=rule.format,
            columns=rule.columns,
            delimiter=rule.delimiter,
            epoch=rule.epoch,
            booted_at=rule.booted_at,
            max_expanded_bytes=self.limits.max_expanded_bytes,
        )


@dataclass(frozen=True)
class Flags:
    """What the command line says over the file."""

    cluster: str | None = None
    tz: str | None = None
    node: str | None = None
    format: str | None = None
    columns: tuple[str, ...] = ()
    delimiter: str | None = None
    collected_at: datetime | None = None
    booted_at: datetime | None = None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a regular expression; `{node}` and `{job_id}` become groups of one path part or less."""
    pieces = re.split(r"(\*\*/?|\*|\?|\{node\}|\{job_id\})", glob)
    meaning = {
        "**/": r"(?:.*/)?",
        "**": r".*",
        "*": r"[^/]*",
        "?": r"[^/]",
        "{node}": r"(?P<node>[^/]+?)",
        "{job_id}": r"(?P<job_id>[^/]+?)",
    }
    return re.compile("".join(meaning.get(piece, re.escape(piece)) for piece in pieces), re.DOTALL)


def load(path: Path | None, flags: Flags | None = None) -> Config:
    """The configuration of a file (or the defaults) under the flags. Raises ConfigError."""
    config = Config() if path is None else _read(path)
    flags = flags or Flags()
    cluster = msgspec.structs.replace(
        config.cluster,
        name=flags.cluster or config.cluster.name,
        zone=flags.tz or config.cluster.zone,
    )
    source = tuple(_under_flags(rule, flags) for rule in (*config.source, SourceRule(path="**")))
    config = msgspec.structs.replace(config, cluster=cluster, source=source)
    _check(config)
    return config


def _under_flags(rule: SourceRule, flags: Flags) -> SourceRule:
    said = {
        "cluster": flags.cluster,
        "node": flags.node,
        "format": flags.format,
        "columns": flags.columns,
        "delimiter": flags.delimiter,
        "collected_at": flags.collected_at,
        "booted_at": flags.booted_at,
    }
    return msgspec.structs.replace(rule, **{key: value for key, value in said.items() if value})


def _read(path: Path) -> Config:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        config = msgspec.convert({key: value for key, value in raw.items() if key != "folder"}, Config)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        message = f"{path}: {error}"
        raise ConfigError(message) from error
    return msgspec.structs.replace(config, folder=str(path.parent))


def _check(config: Config) -> None:
    for zone in {config.cluster.zone, *(rule.zone for rule in config.source)} - {None}:
        check_zone(str(zone))
    try:
        for rule in config.source:
            _pattern(rule.path)
        re.compile(config.cluster.node_name)
    except re.error as error:
        message = f"a path or node_name pattern cannot be read: {error}"
        raise ConfigError(message) from error


def check_zone(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises ConfigError, also for names that stand for the machine's own zone."""
    try:
        if name not in MACHINE_ZONES:
            return ZoneInfo(name)
        raise KeyError(name)
    except (KeyError, ValueError, OSError) as error:
        message = f"no time zone {name!r}: use an IANA name such as Europe/Berlin"
        raise ConfigError(message) from error


def utc(text: str) -> datetime:
    """An ISO time with offset, or without one in UTC. Raises ConfigError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        message = f"{text!r} is not a time: write 2026-01-31T23:59:59Z"
        raise ConfigError(message) from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
