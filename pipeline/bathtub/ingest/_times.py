"""Time stamps as written, to UTC, without inventing anything."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bathtub.source import MACHINE_ZONES, Quarantine, Source

TOLERANCE = timedelta(days=1)
"""How far a stamp may lie behind the collection of its file: clocks and zones of file times are loose."""

FIRST_YEAR, LAST_YEAR = 1900, 9999
"""Outside of these, exclusive, a text is no time of a log; at the ends of the calendar a zone would overflow it."""

_MONTHS = {
    name: number
    for number, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1)
}
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$")
_GLOG = re.compile(r"(\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")
_DATED = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (?:(\d{4}) )?(\d\d:\d\d:\d\d)(?: (\d{4}))?$")
_BSD = re.compile(r"([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$")


@dataclass(frozen=True)
class Stamp:
    """An instant in UTC (null where the text has none) and how far it can be trusted."""

    at: datetime | None
    quality: str
    zone_assumed: str | None = None


UNKNOWN = Stamp(None, "unknown")


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises Quarantine for a name that does not exist, or that depends on the machine."""
    if name in MACHINE_ZONES:
        raise Quarantine("unknown_zone", f"{name!r} is another zone on every machine: use an IANA name such as Europe/Berlin")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise Quarantine("unknown_zone", f"no time zone {name!r}: use an IANA name such as Europe/Berlin") from error


def source_zone(source: Source) -> str:
    """The zone of a source's zone-less text. Raises Quarantine where the configuration names none."""
    if source.settings.zone is None:
        raise Quarantine("zone_required", "its times have no zone: set one for this source, or give --tz")
    return source.settings.zone


def configured(time: datetime | None, source: Source) -> datetime | None:
    """A time of the configuration in UTC; without an offset it is in the source's zone. None where there is none.

    Raises Quarantine(`zone_required`).
    """
    if time is None or not FIRST_YEAR < time.year < LAST_YEAR:
        return None
    return localized(time, source_zone(source)).at if time.tzinfo is None else time.astimezone(UTC)


def localized(naive: datetime, zone_name: str) -> Stamp:
    """A zone-less time read in a zone.

    The repeated autumn hour gives its first reading, marked ambiguous; the skipped spring hour does not exist.
    """
    there = zone(zone_name)
    if not FIRST_YEAR < naive.year < LAST_YEAR:
        return Stamp(None, "unknown", zone_name)
    first, second = (naive.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        return Stamp(first, "exact", zone_name)
    if first.astimezone(there).replace(tzinfo=None) != naive:
        return Stamp(None, "unknown", zone_name)
    return Stamp(first, "ambiguous", zone_name)


def iso(text: str, source: Source) -> Stamp:
    """ISO 8601 with or without offset, `.` or `,` before the fraction, cut to microseconds."""
    found = _ISO.match(text)
    if found is None:
        return UNKNOWN
    *parts, fraction, offset = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        year, month, day, hour, minute, second = (int(part) for part in parts)
        naive = datetime(year, month, day, hour, minute, second, micros)  # noqa: DTZ001 - the zone comes next
    except ValueError:
        return UNKNOWN
    if not FIRST_YEAR < naive.year < LAST_YEAR:
        return UNKNOWN
    if offset is None:
        return checked(localized(naive, source_zone(source)), source)
    return checked(Stamp((naive - _offset(offset)).replace(tzinfo=UTC), "exact"), source)


def _offset(text: str) -> timedelta:
    if text == "Z":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[-2:])
    return (-1 if text[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes)


def dated(text: str, source: Source) -> Stamp:
    """`Feb 23 16:24:24 2025` or `Feb 23 2025 16:24:24`, local."""
    found = _DATED.match(text)
    year = (found[3] or found[5]) if found else None
    if found is None or year is None or found[1] not in _MONTHS:
        return UNKNOWN
    return iso(f"{year}-{_MONTHS[found[1]]:02}-{found[2].replace(' ', '0')}T{found[4]}", source)


def bsd(text: str, source: Source) -> Stamp:
    """`Jan  4 22:15:17` (RFC 3164): the latest year that does not put it a day or more after the collection."""
    found = _BSD.match(text)
    if found is None or found[1] not in _MONTHS:
        return UNKNOWN
    month, *parts, fraction = found.groups()
    return _latest(source, (_MONTHS[month], *(int(part) for part in parts)), int((fraction or "0").ljust(6, "0")))


def glog(text: str, source: Source) -> Stamp:
    """`314 11:42:07.327555102` (glog's month and day, neither year nor zone): the year as for `bsd`.

    Unknown, not refused, where the configuration names no zone: these lines tell much without their time.
    """
    found = _GLOG.match(text)
    if found is None or source.settings.zone is None:
        return UNKNOWN
    *parts, fraction = found.groups()
    return _latest(source, tuple(int(part) for part in parts), int((fraction or "0").ljust(6, "0")[:6]))


def _latest(source: Source, parts: tuple[int, ...], micros: int = 0) -> Stamp:
    """Month, day, hour, minute and second in the latest year that is possible for the source."""
    zone_name = source_zone(source)
    latest = (source.collected_at + TOLERANCE).astimezone(zone(zone_name)).replace(tzinfo=None)
    month, day, hour, minute, second = parts
    for year in range(latest.year, latest.year - 8, -1):
        try:
            naive = datetime(year, month, day, hour, minute, second, micros)  # noqa: DTZ001 - the zone comes next
        except ValueError:
            continue
        if naive <= latest:
            stamp = localized(naive, zone_name)
            return Stamp(stamp.at, "derived" if stamp.quality == "exact" else stamp.quality, zone_name)
    return UNKNOWN


def checked(stamp: Stamp, source: Source) -> Stamp:
    """The same, marked `future` where it lies a day or more after the collection of its file."""
    if stamp.at is not None and stamp.at > source.collected_at + TOLERANCE:
        return Stamp(stamp.at, "future", stamp.zone_assumed)
    return stamp
