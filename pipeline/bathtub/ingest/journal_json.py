r"""The journal as JSON, one entry a line: `journalctl -o json`.

    {"__REALTIME_TIMESTAMP":"1767322445000000","_SOURCE_MONOTONIC_TIMESTAMP":"12345678901","_BOOT_ID":"4bc...",
     "_HOSTNAME":"gpu-a01","_TRANSPORT":"kernel","PRIORITY":"4","MESSAGE":"NVRM: Xid (PCI:0000:3b:00): 79, ..."}

Numbers are text. A message that is no UTF-8 is an array of bytes; a field that is repeated is an array of its values; a message
that was too long is null: of the kernel that is a reject, since it may have been a fault. The emitter is the kernel where it is
the transport, else the tag, else the command. Wall times are those of reception; kernel lines have the time since boot besides.
The bytes are searched first, and only lines that hold a literal (or an array, or null, as message) are decoded.

Rejects: bad_json, message_null, line_too_long.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from bathtub.ingest._envelopes import Envelope, Header, text_log
from bathtub.ingest._messages import Reject
from bathtub.ingest._times import UNKNOWN, Stamp, checked
from bathtub.source import Source

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_DIGITS = 16
_FIELDS = re.compile(rb'"__(?:CURSOR|REALTIME_TIMESTAMP|MONOTONIC_TIMESTAMP)" ?: ?"')
Value = str | int | float | bool | None | list[object]


class _Entry(msgspec.Struct):
    """The fields that are read, whatever shape they have."""

    message: Value = msgspec.field(default=None, name="MESSAGE")
    realtime: Value = msgspec.field(default=None, name="__REALTIME_TIMESTAMP")
    monotonic: Value = msgspec.field(default=None, name="_SOURCE_MONOTONIC_TIMESTAMP")
    boot_id: Value = msgspec.field(default=None, name="_BOOT_ID")
    host: Value = msgspec.field(default=None, name="_HOSTNAME")
    transport: Value = msgspec.field(default=None, name="_TRANSPORT")
    tag: Value = msgspec.field(default=None, name="SYSLOG_IDENTIFIER")
    command: Value = msgspec.field(default=None, name="_COMM")


_DECODER = msgspec.json.Decoder(_Entry)


def _read(raw: str) -> Header | Reject | None:
    if not raw.startswith("{"):
        return None
    try:
        entry = _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return Reject("bad_json")
    emitter = "kernel" if _first(entry.transport) == "kernel" else _first(entry.tag) or _first(entry.command)
    message, monotonic = _text(entry.message), _first(entry.monotonic)
    if message is None and emitter == "kernel":
        return Reject("message_null")
    micros = int(monotonic) if monotonic is not None and _is_number(monotonic) else None
    return Header(message or "", emitter, _first(entry.host), _first(entry.realtime) or "", micros, _first(entry.boot_id))


def _first(value: Value) -> str | None:
    """A field that has one value, the first where it is repeated."""
    text = _text(value)
    return text.partition("\n")[0] if text else None


def _text(value: Value) -> str | None:
    """A field as text: bytes decoded, repeated values as lines."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        return str(value)
    if all(isinstance(each, int) and 0 <= each < 256 for each in value):  # noqa: PLR2004 - a byte
        return bytes(each for each in value if isinstance(each, int)).decode("utf-8", "replace")
    return "\n".join(_each(value)) or None


def _each(values: Sequence[object]) -> list[str]:
    """The texts among the values of a repeated field, arrays of bytes decoded."""
    inner = (_text(each) for each in values if isinstance(each, str) or (isinstance(each, list) and not _is_nested(each)))
    return [text for text in inner if text is not None]


def _is_nested(values: Sequence[object]) -> bool:
    return any(isinstance(each, list) for each in values)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def _stamp(text: str, source: Source) -> Stamp:
    """Microseconds since the epoch."""
    if not _is_number(text):
        return UNKNOWN
    return checked(Stamp(EPOCH + timedelta(microseconds=int(text)), "exact"), source)


def _claims(head: bytes, _name: str) -> bool:
    first = head.lstrip(b"\xef\xbb\xbf\x00 \r\n").split(b"\n", 1)[0]
    return first.startswith(b"{") and b"MESSAGE" in head and _FIELDS.search(first) is not None


FORMAT = text_log(
    Envelope(
        "journal_json",
        re.compile("(?!)"),
        _stamp,
        time_source="journal_realtime",
        read=_read,
        claims=_claims,
        literals=(b'"MESSAGE":[', b'"MESSAGE":null'),
        record="an entry",
    )
)
