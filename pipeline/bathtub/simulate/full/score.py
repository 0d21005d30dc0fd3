"""What was judged beside what was planted: matches incidents by job, node and time, and counts."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

NEAR = timedelta(minutes=45)
"""A hang is told by its job's end, and a node by the scheduler's: minutes after the fact."""
NEAR_NOWHERE = timedelta(minutes=15)

Row = Mapping[str, str]


@dataclass(frozen=True)
class Pair:
    """A planted incident and the one that was found for it; either can be missing.

    `is_again`: nothing planted is left for what was found, but it fits a planted one that has its partner: one told twice.
    """

    planted: Row | None
    found: Row | None
    is_again: bool = False

    @property
    def expected(self) -> str:
        """The component that a right judge names; empty where nothing was planted."""
        return self.planted["expected_component"] if self.planted else ""

    @property
    def named(self) -> str:
        """The component that was named; empty where nothing was found."""
        return self.found["component"] if self.found else ""

    @property
    def is_right(self) -> bool:
        """Whether the named component is one that the files allow; of a planned one, whether it was seen to be planned."""
        if self.planted is None or self.found is None:
            return False
        if self.planted["is_planned"] == "true":
            return self.found["is_planned"] == "true"
        return self.named in {self.expected, *self.planted["also_right"].split(";")} - {""}


def read(path: Path) -> list[Row]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def matched(planted: Sequence[Row], found: Sequence[Row]) -> list[Pair]:
    """Each planted incident that has evidence beside the best one found for it, best fits first; then what is left over.

    What fits shares a job or a node, and starts within 45 minutes. A device's node, where one is named, must be among the nodes
    of the planted one, or a job be shared. What names neither node nor job fits within 15 minutes, after all others. Planned
    incidents may share one that was found.
    """
    there = [row for row in planted if row["has_evidence"] == "true"]
    fits = sorted(_fits(there, found))
    partner, taken = dict[int, int](), set[int]()
    for *_, mine, theirs in fits:
        if mine not in partner and theirs not in taken:
            partner[mine] = theirs
            taken.add(theirs)
    for *_, mine, theirs in fits:
        if mine not in partner and there[mine]["is_planned"] == found[theirs]["is_planned"] == "true":
            partner[mine] = theirs
    pairs = [Pair(row, found[partner[number]] if number in partner else None) for number, row in enumerate(there)]
    fitting = {theirs for *_, theirs in fits}
    return pairs + [Pair(None, row, number in fitting) for number, row in enumerate(found) if number not in taken]


def _fits(planted: Sequence[Row], found: Sequence[Row]) -> Iterator[tuple[bool, bool, float, int, int]]:
    """(not the device's node, no job shared, seconds apart, number planted, number found) of all that may belong together."""
    times = [datetime.fromisoformat(row["started_at"]) for row in found]
    places = [({*_items(row["device_node"] or row["nodes"])}, {*_items(row["job_ids"])}) for row in found]
    for mine, row in enumerate(planted):
        at = datetime.fromisoformat(row["started_at"])
        nodes, jobs = {*_items(row["nodes"]), row["node"]}, {*_items(row["job_ids"])}
        for theirs, (there, ended) in enumerate(places):
            apart, is_nowhere = abs(times[theirs] - at), not there and not ended
            if apart <= (NEAR_NOWHERE if is_nowhere else NEAR) and (is_nowhere or jobs & ended or nodes & there):
                is_elsewhere = is_nowhere or found[theirs]["device_node"] not in {"", row["node"]}
                yield is_elsewhere, not jobs & ended, apart.total_seconds(), mine, theirs


def _items(cell: str) -> Iterable[str]:
    return (item for item in cell.split(";") if item)


def confusion(pairs: Iterable[Pair]) -> Counter[tuple[str, str]]:
    """How often each component was planted (as it can be known) and named; `-` is nothing."""
    return Counter((pair.expected or "-", pair.named or "-") for pair in pairs)


def score(pairs: Sequence[Pair]) -> dict[str, float | int | None]:
    """The figures, each null where nothing was asked; failures are what counts as one and was not planned."""
    mine = [(pair, pair.planted) for pair in pairs if pair.planted is not None]
    failures = [(pair, row) for pair, row in mine if row["is_failure"] == "true"]
    said = [pair for pair in pairs if pair.found and pair.found["is_failure"] == "true" and pair.found["is_planned"] != "true"]
    knowable = [pair for pair, row in failures if row["is_knowable"] == "true"]
    unknowable = [pair for pair, row in failures if row["is_knowable"] != "true"]
    devices = [(pair.found, row) for pair, row in mine if row["device_serial"] and pair.found]
    planned = [pair for pair, row in mine if row["is_planned"] == "true"]
    return {
        "planted_failures": len(failures),
        "found_failures": len(said),
        "recall": _share(pair.found is not None for pair, _ in failures),
        "precision": _share(_is_failure(pair.planted) for pair in said),
        "accuracy_on_knowable": _share(pair.is_right for pair in knowable),
        "macro_f1": macro_f1([pair for pair, _ in failures]),
        "wrong_with_high_confidence": sum(is_wrong_and_sure(pair) for pair, _ in failures),
        "unknowable_said_unknown": _share(pair.is_right for pair in unknowable),
        "device_right": _share(found["device_serial"] == row["device_serial"] for found, row in devices),
        "planned_right": _share(pair.is_right for pair in planned),
        "failures_said_planned": sum(pair.found is not None and pair.found["is_planned"] == "true" for pair, _ in failures),
        "said_twice": sum(pair.is_again for pair in said),
        "said_failure_of_none": sum(not _is_failure(pair.planted) and not pair.is_again for pair in said),
    }


def _is_failure(row: Row | None) -> bool:
    return row is not None and row["is_failure"] == "true"


def is_wrong_and_sure(pair: Pair) -> bool:
    """Whether a wrong component was named with high confidence."""
    return pair.found is not None and not pair.is_right and pair.found["confidence"] == "high"


def macro_f1(pairs: Sequence[Pair]) -> float | None:
    """The mean over the expected components of F1; a component that was also right counts as the expected one."""
    said = [(pair.expected, pair.expected if pair.is_right else pair.named) for pair in pairs]
    values = []
    for component in {expected for expected, _ in said}:
        hits = sum(expected == named == component for expected, named in said)
        sizes = sum(expected == component for expected, _ in said) + sum(named == component for _, named in said)
        values.append(2 * hits / sizes)
    return sum(values) / len(values) if values else None


def _share(flags: Iterable[bool]) -> float | None:
    known = list(flags)
    return sum(known) / len(known) if known else None


def disagreements(pairs: Iterable[Pair]) -> Iterator[dict[str, str]]:
    """What was judged otherwise than planted, missed, or found without having been planted and said to be a failure."""
    for pair in pairs:
        planted, found = pair.planted or {}, pair.found or {}
        if pair.is_right or (pair.planted is None and (found["is_failure"] != "true" or found["is_planned"] == "true")):
            continue
        names = ("cause", "confidence", "rule_id", "incident_id")
        yield {
            "planted": planted.get("planted_id", "-"),
            "at": planted.get("started_at") or found["started_at"],
            "expected": pair.expected or "-",
            "found": pair.named or "-",
            "again": "again" if pair.is_again else "",
            **{name: found.get(name, "") for name in names},
        }
