"""Damaged inputs of every format, made out of its own cases; and what is promised of whatever they give."""

import random
from collections import Counter
from pathlib import Path

from bathtub.ingest import Batch, Format, Quarantine, formats
from bathtub.schema import table
from tests.cases import case_source, folders, source

GENTLE = 0.5
MAX_BYTES = 1 << 20
"""Larger cases are about size, not about damage."""
PIECES = (
    b"9223372036854775792",
    b"-1",
    b"1e999",
    b"99999999999999999999999",
    b"null",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"<gpu id=",
    b"</gpu>",
    b"\xff\xfe",
    b"\x00",
    b"\r\n",
    b'"',
    b", ",
    b"{",
    b"}",
    b"]",
    b"&a;",
    b"Unknown Error",
    b"XID 79",
    b"0x" + b"f" * 30,
    b"\xef\xbb\xbf",
    b"DCGM_FI_DEV_XID_ERRORS",
    b"2026/02/30 25:61:00.000",
    b"0000-00-00T00:00:00Z",
    b"nan",
    b"true",
    b"[]",
    b"{}",
    b"\n---\n",
    b"\n- ",
    b": &a !!x ",
    b"*a",
    b'"kind": "Event", ',
    b'"\\ud800"',
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with a few cuts, copies, flipped bytes and hostile pieces; or with some letters and digits exchanged alone."""
    if chance.random() < GENTLE:
        return _exchanged(content, chance)
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.choice((0, 1, 2, 8, 64)))
        piece = chance.choice((b"", chance.choice(PIECES), content[end : end + 40], bytes([chance.randrange(256)])))
        content = content[:start] + piece + content[end:]
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.1 else content


def _exchanged(content: bytes, chance: random.Random) -> bytes:
    """The content with some of its letters and digits made others: its form stays."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(changed))
        if chr(changed[at]).isascii() and chr(changed[at]).isalnum():
            changed[at] = chance.choice(b"0123456789abcdefXZ")
    return bytes(changed)


def hold(known: Format, batches: list[Batch]) -> None:
    """What is promised of every batch."""
    for batch in batches:
        assert batch.read == batch.kept + batch.rejected + batch.out_of_scope
        assert min(batch.kept, batch.rejected, batch.out_of_scope) >= 0
        assert batch.rejects.height == batch.rejected
        assert set(batch.frames) <= {each.name for each in known.tables}
        for name, frame in batch.frames.items():
            declared = table(name)
            assert dict(frame.schema) == declared.polars
            needed = [column.name for column in declared.columns if not column.null]
            assert frame.select(needed).null_count().sum_horizontal().sum() == 0
            assert not frame.select(declared.key).is_duplicated().any()
            for column, values in declared.domain:
                assert set(frame[column].drop_nulls()) <= set(values)


def outcomes(name: str, n: int, folder: Path, *, first: int = 0) -> Counter[str]:
    """Reads `n` damaged inputs of a format, from the one of number `first` on: how many were read, and how many refused.

    Raises whatever a reader raises but Quarantine, with the number of the input that it fell over in a note.
    """
    known, found = formats()[name], Counter[str]()
    cases = [case_source(case) for case in folders("ingest") if case.parent.name == name]
    cases = [case for case in cases if case.path.stat().st_size < MAX_BYTES]
    path = folder / f"damaged-{name}"
    for number in range(first, first + n):
        base = cases[number % len(cases)]
        path.write_bytes(mutated(base.path.read_bytes(), random.Random(f"{name} {number}")))
        settings = {**vars(base.settings), "zone": base.settings.zone or "Europe/Berlin"}
        try:
            hold(known, list(known.parse(source(path, base.full_name, **settings))))
            found["read"] += 1
        except Quarantine:
            found["refused"] += 1
        except BaseException as error:
            error.add_note(f"{name}, input {number}, made of {base.path}")
            raise
    return found
