"""What Slurm says about a node, read: its state with flags, its GPUs, who gave the reason and when."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from bathtub.ingest._times import UNKNOWN, Stamp, checked, iso
from bathtub.source import Source

BASES = ("UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE")
_COMPACT = {
    "ALLOC": "ALLOCATED", "MIX": "MIXED", "UNK": "UNKNOWN", "FUTR": "FUTURE", "ERR": "ERROR", "DRAIN": "DRAINED",
    "DRNG": "DRAINING", "COMP": "COMPLETING", "FAILG": "FAILING", "RESV": "RESERVED", "PLND": "PLANNED", "BOOT": "REBOOT",
    "POW_DN": "POWERING_DOWN", "POW_UP": "POWERING_UP", "NPC": "PERFCTRS", "BLOCK": "BLOCKED",
}  # fmt: skip
_WORDS = frozenset({
    *BASES, *_COMPACT.values(), "FAIL", "MAINT", "INVAL", "POWERED_DOWN", "POWER_DOWN", "REBOOT_REQUESTED", "REBOOT_ISSUED",
})  # fmt: skip
_SUFFIXES = {
    "*": "NOT_RESPONDING", "$": "MAINTENANCE", "@": "REBOOT_REQUESTED", "^": "REBOOT_ISSUED", "#": "POWERING_UP",
    "%": "POWERING_DOWN", "~": "POWERED_DOWN", "!": "POWER_DOWN", "-": "PLANNED", "+": "COMPLETING",
}  # fmt: skip
_SAME_FLAG = {"NO_RESPOND": "NOT_RESPONDING", "MAINT": "MAINTENANCE", "RES": "RESERVED", "INVAL": "INVALID_REG"}
# idle*   mixed-   DOWN*+DRAIN
_WORD = re.compile(r"([A-Za-z_]{1,40})([*~#!%$@^+-]*)")
# gpu:a100:4(S:0-3)   gpu:(null):4(IDX:0-3)   gpu:4
_GRES = re.compile(r"gpu(?::(?:\(null\)|[^:,()]*))?:([0-9]{1,6})(?:\([^)]*\))?")
_ENTRIES = re.compile(r"(?:\([^()]*\)|[^,()])+")
# gres/gpu=8   gres/gpu:a100=8
_TRES = re.compile(r"gres/gpu(:[^=,]+)?=([0-9]{1,6})")
_EPOCH = re.compile(r"[0-9]{1,10}")

NOTHING = frozenset({"", "none", "None", "(null)", "N/A", "n/a", "Unknown", "UNKNOWN", "NONE", "Not Set"})
"""What stands where there is no value. A reason of these words is none; `Not responding` is a real one."""


@dataclass(frozen=True)
class NodeState:
    """A node's state as printed, its base state in full and the flags beside it."""

    state_raw: str | None
    state: str | None
    is_state_known: bool
    state_flags: tuple[str, ...]

    @property
    def columns(self) -> dict[str, object]:
        """The columns of a row."""
        return {
            "state_raw": self.state_raw,
            "state": self.state,
            "is_state_known": self.is_state_known,
            "state_flags": list(self.state_flags),
        }


NO_STATE = NodeState(None, None, is_state_known=False, state_flags=())


@lru_cache(maxsize=4096)
def node_state(text: str | None) -> NodeState:
    """The state of `DOWN*+DRAIN`, `drained*` or `mixed-`; raw text where the first word is not known."""
    raw = (text or "").strip()
    words = [_WORD.fullmatch(word) for word in raw.rstrip("+").split("+")]
    if not raw or not all(words):
        return NodeState(raw or None, raw or None, is_state_known=False, state_flags=())
    names = [found[1].upper() for found in words if found]
    flags = [_SUFFIXES[mark] for found in words if found for mark in found[2]]
    return _settled(raw, names, flags + ["COMPLETING"] * raw.endswith("+"))


def listed_state(words: tuple[str, ...]) -> NodeState:
    """The state of a list such as `["IDLE", "DRAIN"]`, whose order means nothing."""
    names = sorted((word.upper() for word in words if word), key=lambda word: word not in BASES)
    return _settled("+".join(words), names, []) if names else NO_STATE


def _settled(raw: str, names: list[str], marks: list[str]) -> NodeState:
    first = _COMPACT.get(names[0], names[0])
    is_known = first in _WORDS
    flags = dict.fromkeys([_SAME_FLAG.get(name, name) for name in names[1:]] + marks)
    return NodeState(raw, first if is_known else raw, is_known, tuple(flags))


@lru_cache(maxsize=4096)
def count_gpus(gres: str | None) -> int | None:
    """GPUs of a node's gres: the last number of each entry whose first part is `gpu`, summed; null where there is none.

    `gpu:h100:2,gpu:h200:4` is 6. An entry `gpu` without a count makes the whole unknown.
    """
    entries = [entry.strip() for entry in _ENTRIES.findall(gres or "")]
    gpus = [_GRES.fullmatch(entry) for entry in entries if re.match(r"gpu(?:[:(]|$)", entry)]
    return sum(int(found[1]) for found in gpus if found) if gpus and all(gpus) else None


def tres_gpus(tres: str | None) -> int | None:
    """GPUs of trackable resources: `gres/gpu`, else the sum over its types; None where it names none."""
    found = [match for entry in (tres or "").split(",") if (match := _TRES.fullmatch(entry.strip()))]
    plain = [int(match[2]) for match in found if match[1] is None]
    return plain[0] if plain else sum(int(match[2]) for match in found) if found else None


def words(text: str | None) -> str | None:
    """A text without its padding; None for what stands where there is none."""
    bare = (text or "").strip()
    return None if bare in NOTHING else bare


def person(text: str | None) -> str | None:
    """The user of `root(0)`, without the number."""
    return words(re.sub(r"\([0-9]+\)$", "", (text or "").strip()))


def moment(text: str | None, source: Source) -> Stamp | None:
    """An instant as Slurm prints it, epoch seconds or ISO; None where there is none; `unknown` where it cannot be read."""
    bare = words(text)
    if bare is None or bare in ("0", "4294967294", "4294967295"):
        return None
    if _EPOCH.fullmatch(bare):
        return checked(Stamp(datetime.fromtimestamp(int(bare), UTC), "exact"), source)
    return iso(bare, source) if "T" in bare else UNKNOWN
