"""What is said about one set of dumps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bathtub.graph._waits import Row, Waits


@dataclass(frozen=True)
class Place:
    """The operation that a finding is about."""

    pg_name: object
    seq: object
    operation: object


@dataclass(frozen=True)
class Verdict:
    """A finding, the ranks it names, where, what shows it, and what lowers the confidence."""

    finding: str
    summary: str
    culprits: Iterable[int] = ()
    suspects: Iterable[int] = ()
    waits: Sequence[Row] = ()
    doubts: Sequence[str] = ()
    place: Place | None = None
    refs: Sequence[str] = ()


@dataclass(frozen=True)
class DumpSet:
    """The relations about one set of dumps: its row of int_dump_sets, and the rows of the others."""

    one: Row
    waits: Waits
    relations: Mapping[str, Sequence[Row]]

    def rows(self, name: str) -> Sequence[Row]:
        """The set's rows of a relation."""
        return self.relations.get(name, ())


def undecidable(summary: str, suspects: Iterable[int] = ()) -> Verdict:
    """Nobody is named."""
    return Verdict("undecidable", summary, suspects=suspects)


def doubts(one: Row, shown: Sequence[Row] = ()) -> list[str]:
    """What lowers the confidence in any verdict on the set."""
    reasons = {
        "gloo, or members inferred": one["is_gloo"] or any(row["is_inferred"] for row in shown),
        "dumps of several layouts": one["n_versions"] not in (0, 1),
        "operations were freed by an abort": one["is_after_abort"],
        "the dumps were written more than a minute apart": one["is_far_apart"],
        "what is pending is younger than its timeout: it may only be late": one["is_young"],
    }
    return [reason for reason, holds in reasons.items() if holds]
