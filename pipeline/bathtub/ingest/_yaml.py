"""YAML by pieces: what stands in one document, in the words of ijson, without building anything of it.

Only what exports of data hold: maps with plain keys, lists, scalars. Anchors and aliases (which make small texts large), tags,
and nesting that breaks decoders are refused. A plain word is null, true, false or a whole number where it reads so, and text
else: times stay text. The parser is libyaml's; each piece is yielded before the next is read.
"""

import re
from collections.abc import Iterator

import yaml

from bathtub.ingest._json import MAX_DEPTH

WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "false": False}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


class Refused(yaml.YAMLError):
    """The document holds what no export of data has."""


def pieces(text: str) -> Iterator[tuple[str, object, int]]:
    """(event, value, line from 0): start_map, map_key, end_map, start_array, end_array, value. Raises yaml.YAMLError."""
    is_key: list[bool | None] = []  # of each open map whether a key is next, of a list None
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line if event.start_mark is not None else 0
        if isinstance(event, yaml.CollectionEndEvent):
            yield "end_array" if is_key.pop() is None else "end_map", None, line
        elif isinstance(event, yaml.NodeEvent):
            is_name = bool(is_key) and is_key[-1] is True
            _check(event, len(is_key), is_name=is_name)
            if is_key and is_key[-1] is not None:
                is_key[-1] = not is_name
            if isinstance(event, yaml.ScalarEvent):
                yield ("map_key", event.value, line) if is_name else ("value", _value(event), line)
            else:
                is_map = isinstance(event, yaml.MappingStartEvent)
                is_key.append(True if is_map else None)
                yield "start_map" if is_map else "start_array", None, line


def _check(event: yaml.NodeEvent, depth: int, *, is_name: bool) -> None:
    is_plain = isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is None and event.anchor is None
    if not is_plain or depth >= MAX_DEPTH or (is_name and not isinstance(event, yaml.ScalarEvent)):
        raise Refused


def _value(event: yaml.ScalarEvent) -> object:
    if not event.implicit[0]:
        return event.value
    return int(event.value) if _INTEGER.fullmatch(event.value) else WORDS.get(event.value, event.value)
