"""The time since boot: what ties it to the calendar, and where another boot begins.

    [    1.234567] rtc_cmos 00:01: setting system clock to 2026-01-02T03:04:05 UTC (1767323045)

Only this line, written once in each boot, tells the wall time of a clock that counts from boot; where a log does not hold it,
the configuration may say when the machine was booted (`booted_at`: that of the first boot of the log). Both know whole seconds,
and the clock stands still while the machine sleeps: such times are `derived`. A clock that falls is that of another boot.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bathtub.ingest._times import UNKNOWN, Stamp, checked, configured, iso
from bathtub.source import Source

MAX_US = 10**15
OLDEST, NEWEST = 1970, 9000
"""Years of a clock that is worth something; sums with MAX_US (31 years) stay within the calendar."""

_SET = re.compile(r"setting system clock to (\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d) UTC")


@dataclass
class Boots:
    """When each node of one log was booted, as far as its lines tell."""

    booted_at: dict[str | None, datetime] = field(default_factory=dict)
    last_us: dict[str | None, int] = field(default_factory=dict)

    def stamp(self, node: str | None, monotonic_us: int, text: str, source: Source) -> Stamp:
        """The instant of a line so long after boot; unknown where the boot is. Raises Quarantine(`zone_required`)."""
        if node not in self.last_us and (told := configured(source.settings.booted_at, source)) is not None:
            self.booted_at[node] = told
        if monotonic_us < self.last_us.get(node, 0):
            self.booted_at.pop(node, None)
        self.last_us[node] = monotonic_us
        if monotonic_us >= MAX_US:
            return UNKNOWN
        found = _SET.search(text)
        set_at = iso(f"{found[1]}T{found[2]}Z", source).at if found else None
        if set_at is not None and set_at.year > OLDEST:
            self.booted_at[node] = set_at - timedelta(microseconds=monotonic_us)
        booted_at = self.booted_at.get(node)
        if booted_at is None or booted_at.year > NEWEST:
            return UNKNOWN
        return checked(Stamp(booted_at + timedelta(microseconds=monotonic_us), "derived"), source)
