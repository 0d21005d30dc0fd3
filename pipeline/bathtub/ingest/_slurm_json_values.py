"""Values in Slurm's JSON, whatever a version wraps around them: scalar, list of one, `{set, infinite, number}`, null, `{}`.

Slurm's "no value" and "infinite" are null and UNLIMITED wherever they surface.
"""

import re
from decimal import Decimal

from bathtub.ingest import _slurm_values as slurm
from bathtub.ingest._hostlist import NO_NODE

UNLIMITED = "Infinity"
_NO_VALUE = (4294967294, 18446744073709551614, -1, -2)
_INFINITE = (4294967295, 18446744073709551615)
_PER_CPU = 1 << 63  # the bit that says so in the one memory number of old versions
_MIB = 1 << 20
_STRUCT = {"set", "infinite", "number"}

FLAGS = (
    "COMPLETING", "STAGE_OUT", "CONFIGURING", "EXPEDITING", "RESIZING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD",
    "SPECIAL_EXIT", "STOPPED", "REVOKED", "RESV_DEL_HOLD", "SIGNALING",
)  # fmt: skip
"""States that the text form prints instead of the base, in its order: here they stand beside it."""
JSON_ONLY = ("LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE")
BASES = slurm.STATES - {*FLAGS, *JSON_ONLY}
OPEN = frozenset({"PENDING", "RUNNING", "SUSPENDED"})

_TRES_NAME = re.compile(r"[A-Za-z0-9_.:/\-]+")
# 271.batch   271.0+1   batch   0
_STEP = re.compile(r"(?:[0-9]{1,10}\.)?(?P<step>[0-9A-Za-z_]+)(?:\+(?P<component>[0-9]{1,6}))?")
_STEP_NUMBERS = {4294967290: "interactive", 4294967291: "batch", 4294967292: "extern", 4294967293: "TBD"}


def at(value: object, path: str) -> object:
    """What stands under a dotted path of keys; None where it does not go that far."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def unwrap(value: object) -> str | int | bool | Decimal | None:
    """The scalar within; None for null, unset and empty, UNLIMITED for infinite."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        if value.get("infinite") is True:
            return UNLIMITED
        value = None if value.get("set") is False else value.get("number")
    if value in _INFINITE:
        return UNLIMITED
    is_scalar = isinstance(value, str | int | Decimal) and value not in _NO_VALUE
    return value if is_scalar else None  # type: ignore[return-value]


def number(value: object) -> int | None:
    """A whole number, also as digits; None for anything else."""
    found = unwrap(value)
    if isinstance(found, str):
        return int(found) if re.fullmatch(r"[0-9]{1,15}", found, re.ASCII) else None
    if found is None or isinstance(found, bool) or not -_PER_CPU < found < _PER_CPU or found != int(found):
        return None
    return int(found)


def is_bad_number(value: object) -> bool:
    """Neither a number nor one of the shapes that stand for none."""
    if isinstance(value, dict) and value and not value.keys() & _STRUCT:
        return True
    if isinstance(value, list) and len(value) > 1:
        return True
    return unwrap(value) not in (None, "", UNLIMITED) and number(value) is None


def text(value: object) -> str | None:
    """A text that is not blank; a number as text."""
    found = unwrap(value)
    return None if found is None or isinstance(found, bool) else str(found)[:65536].strip() or None


def words(value: object) -> set[str]:
    """A state, status or list of flags as a set: its order means nothing."""
    found = at(value, "current") if isinstance(value, dict) else value
    return {each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str) and each}


def states(value: object) -> set[str]:
    """The long names of a state and its flags."""
    return {slurm.SHORT_STATES.get(name, name) for name in words(value)}


def state(names: set[str]) -> str | None:
    """One state out of a set, as the text form would print it: a flag outranks the base; all of it where none is known."""
    flags = [flag for flag in FLAGS if flag in names]
    bases = sorted(names & BASES)
    if flags or len(bases) == 1:
        return (flags or bases)[0]
    return "+".join(sorted(names)) or None


def exit_pair(value: object) -> tuple[int | None, int | None]:
    """Exit code and signal as `code:signal` prints them: a program that exited has signal 0, one that was killed code 0.

    A bare number is the raw wait status. Both are null where the status says that there is none yet, or it cannot be read.
    """
    status = words(at(value, "status"))
    if not isinstance(value, dict) or value.keys() & _STRUCT:
        raw = number(value)
        return (None, None) if raw is None else (raw >> 8 & 0xFF, raw & 0x7F)
    if status & {"PENDING", "INVALID"} or is_bad_exit(value):
        return None, None
    code = number(value.get("return_code"))
    signals = [number(at(value, f"signal.{key}")) for key in ("id", "signal_id")]
    signal = next((each for each in signals if each is not None), None)
    if not status and code is None and signal is None:
        return None, None
    return code or 0, signal or 0


def is_bad_exit(value: object) -> bool:
    """Whether an exit code is there and cannot be read."""
    return is_bad_number(at(value, "return_code"))


def tres(value: object) -> str | None:
    """Trackable resources as the text form prints them; None where there are none, or they cannot be read."""
    if not isinstance(value, list):
        return text(value)
    parts = []
    for each in value:
        kind, name, count = text(at(each, "type")), text(at(each, "name")), number(at(each, "count"))
        label = f"{kind}/{name}" if name else str(kind)
        if kind is None or not _TRES_NAME.fullmatch(label):
            return None
        if count is not None:
            parts.append(f"{label}={count}{'M' if kind == 'mem' else ''}")
    return ",".join(parts) or None


def node_list(value: object) -> str | None:
    """A host list as printed: text, or the names of a list; None for the words that stand for no node."""
    names = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    found = ",".join(names) if isinstance(value, list) else text(value)
    return None if found is None or found in NO_NODE else found


def limit(value: object) -> tuple[int | None, str | None]:
    """Seconds of a limit in minutes, and its kind. Null alone does not say which kind it is."""
    if unwrap(value) == UNLIMITED:
        return None, "unlimited"
    minutes = number(value)
    if minutes is not None and 0 <= minutes < 1 << 32:
        return minutes * 60, "limited"
    is_unset = value == _NO_VALUE[0] or (isinstance(value, dict) and value.get("set") is False)
    return None, "partition" if is_unset else None if value in (None, {}) else "invalid"


def memory(per_node: object, per_cpu: object, either: object) -> tuple[int | None, str | None]:
    """Bytes of a requested memory in MiB, and what it is counted per; old versions have one number for both."""
    for value, basis in ((per_cpu, "per_cpu"), (per_node, "per_node")):
        size = number(value)
        if size is not None and 0 <= size < 1 << 40:
            return size * _MIB, basis
    if isinstance(either, int) and either >= _PER_CPU:
        return (either - _PER_CPU) % (1 << 40) * _MIB, "per_cpu"
    size = number(either)
    return (size * _MIB, "per_node") if size is not None and 0 <= size < 1 << 40 else (None, None)


def step_name(value: object) -> tuple[str | None, int | None]:
    """Name and heterogeneous component of a step: of `271.batch`, of a bare name or number, or of an object with both."""
    component = number(at(value, "id.step_het_component"))
    if component is None:
        component = number(at(value, "het.component"))
    found = at(value, "id.step_id") if isinstance(at(value, "id"), dict) else at(value, "id")
    scalar = number(found)
    named = _STEP.fullmatch(_STEP_NUMBERS.get(scalar, str(scalar)) if scalar is not None else text(found) or "")
    if named is None:
        return None, None
    return named["step"], int(named["component"]) if named["component"] else component
