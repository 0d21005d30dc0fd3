"""Times of Kubernetes: RFC 3339 with a zone, in whole seconds (Time) or with six decimals (MicroTime)."""

import re

from bathtub.ingest._times import UNKNOWN, Stamp, iso
from bathtub.source import Source

ZERO = "0001-01-01T00:00:00"
"""How Go writes a time that was never set."""

_ZONED = re.compile(r".*(?:Z|[+-]\d\d:\d\d)", re.DOTALL)


def instant(value: object, source: Source) -> Stamp:
    """The time in UTC; unknown for null, for the zero of Go and for what is no time, one without a zone included."""
    is_text = isinstance(value, str) and _ZONED.fullmatch(value) is not None
    return iso(str(value), source) if is_text else UNKNOWN


def is_unreadable(value: object, source: Source) -> bool:
    """Whether something is written there that is no time."""
    return value is not None and not str(value).startswith(ZERO) and instant(value, source).at is None
