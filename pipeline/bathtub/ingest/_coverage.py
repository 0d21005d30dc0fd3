"""On which days a source shows that a node was watched: a log by its lines, an agent by saying that it looks.

Only what would have given a row of a fault is a look. Samples of counters, gauges and checks of health give none, and files that
hold events alone show the days with faults and no other: neither covers anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from bathtub.ingest._rows import Row
from bathtub.ingest._times import Stamp


@dataclass
class _Span:
    """First and last look of one node and day."""

    first_at: datetime
    last_at: datetime
    n_sampled: int = 0


@dataclass
class Coverage:
    """The looks of one source, by node and UTC day."""

    spans: dict[tuple[str | None, date], _Span] = field(default_factory=dict)

    def add(self, node: str | None, stamp: Stamp) -> None:
        """One look; an unknown time and one of the future show nothing."""
        if stamp.at is None or stamp.quality == "future":
            return
        seen = self.spans.setdefault((node, stamp.at.date()), _Span(stamp.at, stamp.at))
        seen.first_at, seen.last_at = min(seen.first_at, stamp.at), max(seen.last_at, stamp.at)
        seen.n_sampled += 1

    def rows(self) -> Iterator[Row]:
        """The rows of `coverage`, by node and day."""
        for (node, day), seen in sorted(self.spans.items(), key=lambda item: (item[0][0] or "", item[0][1])):
            yield {"node": node, "day": day, "first_at": seen.first_at, "last_at": seen.last_at, "n_sampled": seen.n_sampled}
