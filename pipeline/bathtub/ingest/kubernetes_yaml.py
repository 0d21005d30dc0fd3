"""Objects of Kubernetes as YAML: `kubectl get … -o yaml`, with `-w` too, documents one after the other.

    apiVersion: v1
    count: 3
    firstTimestamp: "2026-01-02T03:04:05Z"
    involvedObject: {kind: Pod, name: train-0, namespace: ml}
    kind: Event
    lastTimestamp: "2026-01-02T03:09:05Z"
    message: Back-off restarting failed container
    metadata: {name: train-0.18a1, namespace: ml, uid: 5b0c2c1e-…}
    reason: BackOff
    type: Warning
    ---

The same objects, lists and records of a watch as in kubernetes_json; what is read of an object is told by its kind, in
`_kubernetes/`. Documents are separated by `---` or `...` at the start of a line, and a damaged one costs itself only. The line is
the first of the document behind comments, in a list that of the member. kubectl writes the kind of a list at its end: without
one the list was cut.

A record is an object, and a document that is damaged. Out of scope: objects of other kinds, bookmarks and errors of a watch.
Rejects: bad_object (no object, or one without kind or version), object_too_large (8 MiB, the server takes 1.5), bad_yaml (no
YAML, deeper than 64, or with anchors, aliases or tags, which no export has), cut_short (the last member
of a list that was cut), shares_line (members of a list on one line but the first: export as JSON).
Quarantine: document_too_large (32 MiB), line_too_long.
"""

import codecs
import re
from collections.abc import Iterator

import yaml

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._kubernetes import mapping, tables_of_kinds
from bathtub.ingest._kubernetes._carriers import Documents, Found, Records, identities, shown, version
from bathtub.ingest._numbered import numbered
from bathtub.ingest._yaml import pieces
from bathtub.source import Source

MAX_DOCUMENT = 32 << 20
_SEPARATOR = re.compile(rb"(?:---|\.\.\.)(?:[ \t\r]|$)")
_IN_FRONT = re.compile(rb"\s*(?:#|$)|%")
# the lines of a document: a key, a member of a list, the inside of either, a comment
_LINE = re.compile(rb"([A-Za-z][\w.-]*):(?:\s|$)|- |-?\s*$|[ \t#%]")


def _claims(head: bytes, _name: str) -> bool:
    lines = next(_split(enumerate(head.split(b"\n"), start=1)), (0, b""))[1].split(b"\n")
    found = [_LINE.match(line) for line in lines]
    if not all(found[:-1]):
        return False
    keys = {key for each in found if each is not None and (key := each[1]) is not None}
    starts = {line.partition(b":")[0] for line in lines}
    is_list = {b"apiVersion", b"items"} <= keys and (b"kind" in keys or {b"- apiVersion", b"  kind"} <= starts)
    is_watched = {b"object", b"type"} <= keys and {b"  apiVersion", b"  kind", b"  metadata"} <= starts
    return is_list or is_watched or {b"apiVersion", b"kind", b"metadata"} <= keys


def _split(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Each document and the number of its first line. Raises Quarantine."""
    held, first = bytearray(), 0
    for number, raw in lines:
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if _SEPARATOR.match(line):
            if held:
                yield first, bytes(held)
            held, line = bytearray(), b"   " + line[3:]
        if held:
            held += b"\n" + line
        elif not _IN_FRONT.match(line):
            held, first = bytearray(line), number
        if len(held) > MAX_DOCUMENT:
            raise Quarantine("document_too_large", f"a document of more than {MAX_DOCUMENT} bytes: export it with -o json")
    if held:
        yield first, bytes(held)


def _found(first: int, text: str) -> Iterator[Found]:
    """The objects of one document. Raises yaml.YAMLError before the first of them."""
    heads = identities((event, value) for event, value, _ in pieces(text))
    documents = Documents(heads.__getitem__)
    for event, value, line in pieces(text):
        documents.feed(event, value, first + line)
        if len(documents.found) > 1:
            yield documents.found.pop(0)
    head = mapping(documents.head)
    is_cut = "items" in head and "kind" not in head
    yield from (Found(each.line, shown(each.value), "cut_short") if is_cut else each for each in documents.found)


def _records(source: Source) -> Iterator[Found]:
    """The objects of all documents, and each document that is damaged. Raises Quarantine."""
    line = 0
    for first, document in _split(numbered(source)):
        text = document.decode("utf-8", "replace")
        try:
            for found in _found(first, text):
                yield found if found.line > line else Found(found.line, shown(found.value), "shares_line")
                line = found.line
        except yaml.YAMLError:
            yield Found(first, text, "bad_yaml")


def _parse(source: Source) -> Iterator[Batch]:
    records = Records(FORMAT.name, source)
    for found in _records(source):
        records.take(found.line, found)
        if records.is_full:
            yield records.batch()
    yield records.batch()


FORMAT = Format("kubernetes_yaml", version(), "an object", tables_of_kinds(), _claims, _parse)
