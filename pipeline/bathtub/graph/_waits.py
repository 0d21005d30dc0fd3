"""The waits of one set of dumps as a graph of ranks: where each member is whom a rank waits for, and what the chains end in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Row = Mapping[str, object]

ABSENT = ("idle", "queued", "elsewhere", "no_dump", "unreadable", "cut", "no_data")
"""Where a member is whom one waits for; the others are at the same operation or past it (`at_same_op`, `ahead`)."""


@dataclass(frozen=True)
class Waits:
    """The rows of int_waits of one set."""

    rows: Sequence[Row]

    @cached_property
    def edges(self) -> set[tuple[int, int]]:
        """From each rank to every member that it needs and that is not there."""
        return {(whole(row["rank"]), whole(row["member"])) for row in self.pointing_to(*ABSENT)}

    @cached_property
    def heads(self) -> dict[int, Row]:
        """Each waiting rank's operation, told by one of its rows."""
        return {whole(row["rank"]): row for row in self.rows}

    def pointing_to(self, *situations: str) -> list[Row]:
        """The waits for members in one of these situations."""
        return [row for row in self.rows if row["situation"] in situations]

    def members(self, *situations: str) -> set[int]:
        """The members in one of these situations that somebody waits for."""
        return {whole(row["member"]) for row in self.pointing_to(*situations)}

    def needing_nobody(self) -> set[int]:
        """The ranks whose members are all at the operation or past it."""
        return set(self.heads) - {whole(row["rank"]) for row in self.pointing_to(*ABSENT)}

    def joined(self) -> set[int]:
        """The ranks that need nobody who is not at the same operation: they sit together."""
        return set(self.heads) - {whole(row["rank"]) for row in self.rows if row["situation"] != "at_same_op"}

    def not_ending_in(self, ends: set[int]) -> set[int]:
        """The ranks none of whose chains of waits ends in one of these."""
        waiting: dict[int, list[int]] = {}
        for rank, member in self.edges:
            waiting.setdefault(member, []).append(rank)
        reached, todo = set(ends), list(ends)
        while todo:
            new = set(waiting.pop(todo.pop(), ())) - reached
            reached |= new
            todo += new
        return set(self.heads).union(*self.edges) - reached

    def cycles(self) -> Iterator[set[int]]:
        """The sets of ranks that wait for one another in a cycle."""
        import networkx as nx  # few hangs have a cycle, and it is slow to load

        for ranks in nx.strongly_connected_components(nx.DiGraph(self.edges)):
            if len(ranks) > 1:
                yield set(ranks)


def whole(value: object) -> int:
    """The value as the whole number that it is."""
    assert isinstance(value, int)
    return value


def ranks_of(value: object) -> list[int]:
    """The value as the list of ranks that it is."""
    assert isinstance(value, list)
    return value


def told(ranks: Iterable[int]) -> str:
    """Ranks in words, the first of many."""
    numbers = sorted(ranks)
    shown = ", ".join(map(str, numbers[:_SHOWN])) + (f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else "")
    return ("rank " if len(numbers) == 1 else "ranks ") + shown


_SHOWN = 16
