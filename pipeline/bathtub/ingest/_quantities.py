"""How pollers call what they read, and their words for nothing: out of the knowledge tables.

Which name of which tool is which column of `telemetry` stands in nvidia_smi_fields and dcgm_fields; the words for null
in nvidia_smi_nulls, the bits of the clock reasons in clocks_event_reasons, and how far a quantity can reach in
telemetry_ranges.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from bathtub import knowledge
from bathtub.ingest._messages._addresses import device_key
from bathtub.schema import table

BLANK_TEXTS = {
    "<<<NULL>>>": "blank",
    "<<<NOT_FOUND>>>": "not_found",
    "<<<NOT_SUPPORTED>>>": "not_supported",
    "<<<NOT_PERM>>>": "not_permitted",
}
MAX_INDEX_DIGITS = 9
_PLACEHOLDER = re.compile(r"(?:GPU-)?[0-]+")


@dataclass(frozen=True)
class Field:
    """One name of a tool: the column that it is, how its text is read, its unit where the text has none."""

    quantity: str
    kind: str
    unit: str
    preference: int
    blank_type: str | None = None


@cache
def smi_fields(tool: str) -> Mapping[str, Field]:
    """The names of one output of nvidia-smi (csv, xml, text) or of its exporter."""
    rows = knowledge.tables()["nvidia_smi_fields"].iter_rows(named=True)
    return {
        row["name"]: Field(row["quantity"], row["kind"], row["unit"] or "", int(row["preference"]))
        for row in rows
        if row["tool"] == tool
    }


@cache
def dcgm_fields() -> Mapping[str, Field]:
    """DCGM's fields by name."""
    rows = knowledge.tables()["dcgm_fields"].iter_rows(named=True)
    return {
        row["name"]: Field(row["quantity"], row["kind"], row["unit"] or "", int(row["preference"]), row["blank_type"])
        for row in rows
    }


@cache
def _nulls() -> Mapping[str, str]:
    return dict(knowledge.tables()["nvidia_smi_nulls"].select("word", "meaning").iter_rows())


@cache
def evidence_words() -> frozenset[str]:
    """The meanings of null that are evidence of a fault at the same time."""
    rows = knowledge.tables()["nvidia_smi_nulls"].iter_rows(named=True)
    return frozenset(row["meaning"] for row in rows if row["is_evidence"] == "true")


@cache
def bits() -> Mapping[str, int]:
    """The bit of each clock reason by its name."""
    return {row["reason"]: int(row["bit"], 16) for row in knowledge.tables()["clocks_event_reasons"].iter_rows(named=True)}


@cache
def ranges() -> Mapping[str, tuple[float, float]]:
    """Lowest and highest value of a quantity that can be one."""
    rows = knowledge.tables()["telemetry_ranges"].iter_rows(named=True)
    return {row["quantity"]: (float(row["low"]), float(row["high"])) for row in rows}


@cache
def types() -> Mapping[str, tuple[str, str]]:
    """Type and unit of each column of `telemetry`."""
    return {column.name: (column.dtype, column.unit or "") for column in table("telemetry").columns}


def null_word(text: str) -> str | None:
    """What a word of nvidia-smi for null means; None where it is a value."""
    return _nulls().get(text.strip().strip("[]").strip().lower())


def known(text: str | None) -> str | None:
    """A text that is a value: not blank, no word or sentinel for null."""
    bare = (text or "").strip()
    return None if not bare or bare in BLANK_TEXTS or null_word(bare) else bare


def key_text(text: str | None) -> str | None:
    """A serial or UUID; None where it is null or a placeholder of zeros."""
    found = known(text)
    return None if found is None or _PLACEHOLDER.fullmatch(found) else found


def index(text: str | None) -> int | None:
    """A small whole number; None where the text is none."""
    bare = (text or "").strip()
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) <= MAX_INDEX_DIGITS else None


def device(
    pci: str | None = None, uuid: str | None = None, serial: str | None = None, number: str | None = None
) -> dict[str, object]:
    """The columns that name a GPU."""
    return {
        "pci_bdf": device_key(pci),
        "device_uuid": key_text(uuid),
        "device_serial": key_text(serial),
        "gpu_index": index(number),
    }
