"""The readings of one GPU: texts with units to numbers, blanks to null with their kind.

DCGM's sentinels are tested within the field's own type: a counter passes those of a narrower type in normal life.
"""

import re
from dataclasses import dataclass, field
from math import isfinite

from bathtub.ingest._quantities import BLANK_TEXTS, Field, bits, evidence_words, null_word, ranges, types

BLANKS = {"int32": 2147483632, "int64": 9223372036854775792, "double": 140737488355328.0}
"""The first of four sentinels of each type: blank, not found, not supported, not permitted."""

BLANK_KINDS = ("blank", "not_found", "not_supported", "not_permitted")
FACTORS = {
    ("%", "ratio"): (1, 100), ("hz", "mhz"): (1, 1_000_000), ("mw", "w"): (1, 1000), ("us", "ns"): (1000, 1),
    ("ms", "ns"): (1_000_000, 1), ("s", "ns"): (1_000_000_000, 1), ("j", "mj"): (1000, 1), ("bank(s)", ""): (1, 1),
}  # fmt: skip
RECOVERY = {"none": 0, "reset": 1, "gpu reset": 1, "reboot": 2, "drain p2p": 3, "drain and reset": 4, "recover imex domain": 5}
"""The driver's numbers of what nvidia-smi words."""

ANSWERS = {"yes": True, "no": False, "1": True, "0": False, "active": True, "not active": False, "true": True, "false": False}
INT64 = 1 << 63
_NUMBER = re.compile(r"([-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?)\s*(.*)", re.DOTALL)


@dataclass
class Reading:
    """The readings of one GPU at one time, as they come: `take` each, then `columns`."""

    values: dict[str, object] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    evidence: dict[str, list[str]] = field(default_factory=dict)
    blanks: list[str] = field(default_factory=list)
    _ranks: dict[str, int] = field(default_factory=dict)
    _parts: dict[str, list[int | None]] = field(default_factory=dict)

    def take(self, known_as: Field, text: str, unit: str = "") -> None:
        """One text of one field; `unit` is that of the column's head, the text's own stands above it."""
        null = null_word(text) if known_as.blank_type is None else BLANK_TEXTS.get(text.strip())
        if null is None and text.strip():
            self._take_value(known_as, text.strip(), unit)
            return
        if known_as.kind == "action" and text.strip().lower() == "none":
            self._keep(known_as, 0)
        if known_as.kind == "part":
            self._parts.setdefault(known_as.quantity, []).append(None)
        if null not in (None, "not_available"):
            self._doubt(str(null), known_as.quantity)

    def columns(self) -> dict[str, object]:
        """The columns of `telemetry` that were read, and the flags."""
        for quantity, parts in self._parts.items():
            if quantity not in self.values and None not in parts and sum(filter(None, parts)) < INT64:
                self.values[quantity] = sum(filter(None, parts))
        return {**self.values, "flags": sorted(set(self.flags))}

    def _doubt(self, kind: str, quantity: str) -> None:
        self.flags.append(f"{kind}:{quantity}")
        if kind in evidence_words():
            self.evidence.setdefault(kind, []).append(quantity)

    def _keep(self, known_as: Field, value: object) -> None:
        """A value, where no better field of the same column has one."""
        if self._ranks.get(known_as.quantity, 99) > known_as.preference:
            self.values[known_as.quantity] = value
            self._ranks[known_as.quantity] = known_as.preference

    def _take_value(self, known_as: Field, text: str, unit: str) -> None:
        word = text.lower()
        if known_as.kind == "bit":
            self._take_bit(known_as, word)
        elif known_as.kind in ("reset", "drain"):
            if ANSWERS.get(word):
                self.values[known_as.quantity] = max(
                    1 if known_as.kind == "reset" else 4, int(str(self.values.get(known_as.quantity, 0)))
                )
            elif word == "no":
                self.values.setdefault(known_as.quantity, 0)
        elif known_as.kind == "action" and word in RECOVERY:
            self._keep(known_as, RECOVERY[word])
        elif known_as.kind == "flag" and word in ANSWERS:
            self._keep(known_as, ANSWERS[word])
        elif known_as.kind == "bitmask" and (mask := _mask(word)) is not None:
            self._keep(known_as, mask)
        elif known_as.kind in ("number", "count", "part", "bitmask", "flag"):
            self._take_number(known_as, text, unit)
        else:
            self._doubt("unreadable", known_as.quantity)

    def _take_bit(self, known_as: Field, word: str) -> None:
        if word not in ANSWERS:
            self._doubt("unreadable", known_as.quantity)
        elif self._ranks.get(known_as.quantity, 99) >= known_as.preference:
            before = int(str(self.values.get(known_as.quantity, 0)))
            self.values[known_as.quantity] = before | (bits()[known_as.unit] if ANSWERS[word] else 0)
            self._ranks[known_as.quantity] = known_as.preference

    def _take_number(self, known_as: Field, text: str, unit: str) -> None:
        found = _NUMBER.fullmatch(text)
        value = _number(found[1]) if found else None
        if found is None or value is None:
            self._doubt("unreadable", known_as.quantity)
            return
        blank = _blank(value, known_as.blank_type)
        if blank is not None:
            self._doubt(blank, known_as.quantity)
            if value == BLANKS[str(known_as.blank_type)] and isinstance(value, int) == str(known_as.blank_type).startswith("int"):
                self.blanks.append(known_as.quantity)
            return
        dtype, target = types()[known_as.quantity]
        scaled = _scaled(value, (found[2].strip() or unit or known_as.unit).lower(), target)
        kept, doubt = _fitted(scaled, known_as.quantity, dtype)
        if doubt is not None:
            self._doubt(doubt, known_as.quantity)
        elif known_as.kind == "part":
            self._parts.setdefault(known_as.quantity, []).append(int(str(kept)))
        else:
            self._keep(known_as, kept)


def _number(text: str) -> int | float | None:
    digits = text.lstrip("+-")
    value = int(text) if digits.isdigit() else float(text)
    return value if isinstance(value, int) or isfinite(value) else None


def is_blank(text: str) -> bool:
    """Whether a text is a sentinel of a 64-bit integer."""
    found = _NUMBER.fullmatch(text)
    value = _number(found[1]) if found else None
    return text in BLANK_TEXTS or (value is not None and value >= BLANKS["int64"])


def _mask(word: str) -> int | None:
    """A mask in hexadecimal, of at most 63 bits."""
    found = re.fullmatch(r"0x0{0,16}([0-9a-f]{1,16})", word)
    value = int(found[1], 16) if found else INT64
    return value if value < INT64 else None


def _blank(value: float, blank_type: str | None) -> str | None:
    """The kind of a sentinel of the field's own type. Through a float, all of 64-bit integers become one number."""
    if blank_type is None or value < BLANKS[blank_type]:
        return None
    above = int(value - BLANKS[blank_type]) if isinstance(value, int) or blank_type == "double" else 0
    return BLANK_KINDS[above] if above < len(BLANK_KINDS) else "blank"


def _scaled(value: float, unit: str, target: str) -> float | None:
    """A number in the unit of its column; None where nothing says how."""
    if unit == target:
        return value
    factor = FACTORS.get((unit, target))
    return None if factor is None else value * factor[0] if factor[1] == 1 else value * factor[0] / factor[1]


def _fitted(value: float | None, quantity: str, dtype: str) -> tuple[object, str | None]:
    """A number as its column's type, or why it cannot be one."""
    if value is None:
        return None, "unknown_unit"
    low, high = ranges().get(quantity, (-INT64, INT64 - 1024))
    if not low <= value <= high:
        return None, "out_of_range"
    if dtype == "int64":
        return (int(value), None) if value == int(value) else (None, "unreadable")
    if dtype == "bool":
        return (bool(value), None) if value in (0, 1) else (None, "unreadable")
    return float(value), None
