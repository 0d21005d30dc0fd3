"""Objects of Kubernetes as JSON: `kubectl get … -o json`, with `-w` too, answers of the API, JSON lines.

    {"apiVersion": "v1", "kind": "List", "items": [
      {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "gpu-03.18a1", "uid": "5b0c…", "creationTimestamp": "…"},
       "involvedObject": {"kind": "Node", "name": "gpu-03"}, "reason": "KernelOops", "message": "BUG: unable to handle …",
       "count": 2, "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:09:05Z", "type": "Warning"}]}
    {"type": "MODIFIED", "object": {"apiVersion": "events.k8s.io/v1", "kind": "Event", "regarding": {…}, "note": "…", …}}

Documents stand one after the other: an object, a list of objects of one kind or of several (those of one kind need not repeat
kind and version), an array of them, or a record of a watch. What is read of an object is told by its kind, in `_kubernetes/`:
events of both groups in `event.py`. Where a file has an object on a line, a damaged line costs itself only; else the file is
streamed, and memory does not depend on the length of a list.

A record is an object, counted from 1. Out of scope: objects of other kinds, bookmarks and errors of a watch.
Rejects: bad_object (no object, or one without kind or version), object_too_large (8 MiB, the server takes 1.5), bad_json (a
line), cut_short (the last of several objects ends early).
Quarantine: bad_json, truncated_json, line_too_long (of JSON lines).
"""

import codecs
from collections.abc import Iterator, Sequence
from functools import cache

import ijson

from bathtub.ingest import Batch, Format, Quarantine
from bathtub.ingest._agents import decoded
from bathtub.ingest._json import Guard, finish, opening, send
from bathtub.ingest._kubernetes import tables_of_kinds
from bathtub.ingest._kubernetes._carriers import IDENTITY, Documents, Found, Piece, Records, identities, version
from bathtub.ingest._numbered import numbered
from bathtub.source import Source

LOOKED_AT = 20


def _claims(head: bytes, _name: str) -> bool:
    if b'"metadata"' not in head and b'"items"' not in head:
        return False
    keys = opening(head)
    is_object = any(_has(keys, path, *IDENTITY, "metadata") for path in ("", "object", "items.item", "item"))
    is_list = _has(keys, "", "items") and (
        _has(keys, "", *IDENTITY)
        or (_has(keys, "", "apiVersion") and _has(keys, "items.item", "apiVersion"))
        or _has(keys, "items.item.metadata", "uid")
    )
    return is_object or is_list


def _has(keys: set[tuple[str, str]], path: str, *names: str) -> bool:
    return all((path, name) in keys for name in names)


def _pieces(source: Source) -> Iterator[Piece]:
    """The pieces of all documents. Raises Quarantine."""
    found = ijson.sendable_list()
    reader, guard = ijson.basic_parse_coro(found, multiple_values=True), Guard()
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    for chunk in source.chunks():
        send(reader, guard, decoder.decode(chunk).encode())
        yield from found
        found.clear()
    send(reader, guard, decoder.decode(b"", final=True).encode())
    finish(reader)
    yield from found


def _pieces_of(text: bytes) -> list[Piece]:
    """The pieces of one line. Raises Quarantine."""
    found = ijson.sendable_list()
    reader = ijson.basic_parse_coro(found, multiple_values=True)
    send(reader, Guard(), text)
    finish(reader)
    return list(found)


def _has_lines(source: Source) -> bool:
    """Whether the file has an object on a line: at least half of its first lines are one."""
    start = next(source.chunks(), b"").removeprefix(codecs.BOM_UTF8)
    lines = [line for line in start.split(b"\n", LOOKED_AT)[:LOOKED_AT] if line.strip()]
    n_objects = sum(line.startswith(b'{"') and isinstance(decoded(line), dict) for line in lines)
    return 0 < len(lines) <= 2 * n_objects


def _of_lines(source: Source) -> Iterator[Found]:
    """The objects of JSON lines, and each line that is none."""
    for _, raw in numbered(source):
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if text:
            try:
                yield from _of_pieces(_pieces_of(text.encode()))
            except Quarantine:
                yield Found(0, text, "bad_json")


def _of_pieces(pieces: Sequence[Piece]) -> list[Found]:
    documents = Documents(lambda number: identities(pieces)[number])
    for event, value in pieces:
        documents.feed(event, value)
    return documents.found


def _of_documents(source: Source) -> Iterator[Found]:
    """The objects of documents; the last of several may end early. Raises Quarantine."""
    look_ahead = cache(lambda: identities(_pieces(source)))
    documents = Documents(lambda number: look_ahead()[number])
    try:
        for event, value in _pieces(source):
            documents.feed(event, value)
            if documents.found:
                yield from documents.found
                documents.found.clear()
    except Quarantine as refused:
        if refused.reason != "truncated_json" or documents.is_in_list or not documents.n_done:
            raise
        yield Found(0, "", "cut_short")


def _parse(source: Source) -> Iterator[Batch]:
    records = Records(FORMAT.name, source)
    for number, found in enumerate(_of_lines(source) if _has_lines(source) else _of_documents(source), start=1):
        records.take(number, found)
        if records.is_full:
            yield records.batch()
    yield records.batch()


FORMAT = Format("kubernetes_json", version(), "an object", tables_of_kinds(), _claims, _parse)
