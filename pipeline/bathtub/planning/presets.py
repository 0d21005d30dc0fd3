"""Published cases, as rows of data/knowledge/plan_presets.csv: each printed figure beside what its own inputs give.

A figure reproduces where ours rounds to it at the digits printed. It repairs neither; `why` says what the difference is.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields

from bathtub.knowledge import tables
from bathtub.planning._plan import H_PER_DAY, Row
from bathtub.planning.formulas import Reading, mtbf_h, running_ratio
from bathtub.planning.rates import counted

MIN_PER_H = 60.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One published figure and its inputs; null where the figure does not have them."""

    preset: str
    figure: str
    quantity: str
    events: int | None
    n_instances: int | None
    hours: float | None
    failures_per_instance_h: float | None
    recovery_min: float | None
    recovery_before_min: float | None
    gpu_hours: float | None
    gpus_per_instance: int | None
    days: float | None
    saved: float | None
    published: str | None
    why: str | None
    source: str

    @property
    def instance_h(self) -> float:
        """Instance-hours in which the events were counted."""
        return (self.n_instances or 0) * (self.hours or 0.0)

    @property
    def rate(self) -> float:
        """Failures per instance-hour, given or counted."""
        given = self.failures_per_instance_h
        return given if given is not None else (self.events or 0) / self.instance_h if self.instance_h else 0.0

    @property
    def failures_per_h(self) -> float:
        """Of the whole job."""
        return self.rate * (self.n_instances or 0)

    @property
    def productive_days(self) -> float:
        """Days of the training without failures."""
        return (self.gpu_hours or 0.0) / ((self.n_instances or 0) * (self.gpus_per_instance or 0)) / H_PER_DAY

    def goodput(self, recovery_min: float | None, reading: Reading) -> float:
        """Share of time outside recovery; NaN where recovery never ends."""
        found = running_ratio(self.failures_per_h * (recovery_min or 0.0) / MIN_PER_H, reading)
        return float("nan") if found is None else found

    def saved_pct(self, reading: Reading) -> float:
        """How much shorter the training is, percent, at the faster recovery."""
        before, after = self.goodput(self.recovery_before_min, reading), self.goodput(self.recovery_min, reading)
        return 100 * (1 - before / after)


QUANTITIES: Mapping[str, Callable[[Case], float]] = {
    "failures_pct": lambda case: 100 * case.rate,
    "mtbf_h": lambda case: mtbf_h(case.rate, case.n_instances or 0),
    "whole_hours": lambda case: 1 / (1 - (1 - case.rate) ** (case.n_instances or 0)),
    "saved_pct_productive": lambda case: case.saved_pct("productive"),
    "saved_pct_wall_clock": lambda case: case.saved_pct("wall_clock"),
    "days_productive": lambda case: case.productive_days / case.goodput(case.recovery_min, "productive"),
    "implied_min_productive": lambda case: ((case.days or 0.0) / case.productive_days - 1) / case.failures_per_h * MIN_PER_H,
    "implied_min_wall_clock": lambda case: (1 - case.productive_days / (case.days or 0.0)) / case.failures_per_h * MIN_PER_H,
    "price_per_gpu_h": lambda case: (
        (case.saved or 0.0) / ((case.days or 0.0) * H_PER_DAY * (case.n_instances or 0) * (case.gpus_per_instance or 0))
    ),
    "cut_pct": lambda case: 100 * (1 - (case.recovery_min or 0.0) / (case.recovery_before_min or 0.0)),
    "goodput_pct": lambda case: 100 * case.goodput(case.recovery_min, "productive"),
}
"""What a figure is, by the name in the table."""

_PARSED: Mapping[str, Callable[[str], object]] = {
    "int | None": int,
    "float | None": float,
}


def cases(preset: str) -> list[Case]:
    """The figures of a preset in the table's order. Raises ValueError naming the presets where there is none of the name."""
    table = tables()["plan_presets"]
    names = table["preset"].unique(maintain_order=True).to_list()
    if preset not in names:
        raise ValueError(f"no preset {preset!r}; there are {', '.join(names)}")
    return [_case(row) for row in table.iter_rows(named=True) if row["preset"] == preset]


def _case(row: Mapping[str, str | None]) -> Case:
    values = {field.name: (row[field.name], _PARSED.get(str(field.type), str)) for field in fields(Case)}
    return Case(**{name: None if text is None else parse(text) for name, (text, parse) in values.items()})  # type: ignore[arg-type]


def published(preset: str, level: float) -> Iterator[Row]:
    """One row per figure: published, ours (with limits where it is of a count), reproduces, why, source."""
    for case in cases(preset):
        ours = QUANTITIES[case.quantity](case)
        low, high = _limits(case, level)
        yield {
            "table": "published",
            "figure": case.figure,
            "published": None if case.published is None else float(case.published),
            "ours": ours,
            "low": low,
            "high": high,
            "reproduces": None if case.published is None else "yes" if _rounds_to(ours, case.published) else "no",
            "why": case.why,
            "source": case.source,
        }


def _limits(case: Case, level: float) -> tuple[float | None, float | None]:
    """Of figures that are counts over hours."""
    if case.events is None:
        return None, None
    figures = {"failures_pct": lambda rate: 100 * rate, "mtbf_h": lambda rate: mtbf_h(rate, case.n_instances or 0)}
    told = counted(case.events, case.instance_h, level).told(figures[case.quantity], falls=case.quantity == "mtbf_h")
    return told["low"], told["high"]  # type: ignore[return-value]


def _rounds_to(ours: float, printed: str) -> bool:
    """Whether ours lies within half a unit of the last digit printed."""
    digits = len(printed.partition(".")[2])
    return abs(ours - float(printed)) <= 0.5 * math.pow(10, -digits)


def listed() -> Iterator[Row]:
    """One row per preset: its name, how many figures it has, the first of them."""
    for (name,), rows in tables()["plan_presets"].group_by("preset", maintain_order=True):
        yield {"table": "presets", "preset": name, "figures": rows.height, "first": rows["figure"][0]}
