"""Damage to files: bytes flipped, lines cut, run together or out of order, files copied. Never to a planted line."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from bathtub.simulate.full.files import stamp

P_FLIPPED, P_CUT, P_JOINED = 0.002, 0.002, 0.002
P_COPIED = 0.03


def damaged(lines: Iterable[tuple[str, bool]], chance: np.random.Generator) -> Iterator[bytes]:
    """Encoded lines; `(text, is_planted)`, and what is planted stays whole."""
    for text, is_planted in lines:
        draw = 1.0 if is_planted else float(chance.random())
        raw = text.encode()
        if draw < P_FLIPPED:
            place = int(chance.integers(len(raw) - 1))
            raw = raw[:place] + bytes([raw[place] ^ (1 << int(chance.integers(7)))]) + raw[place + 1 :]
            raw = raw.replace(b"\n", b"?")[:-1] + b"\n"
        elif draw < P_FLIPPED + P_CUT:
            raw = raw[: max(8, int(chance.integers(len(raw))))].rstrip(b"\n") + b"\n"
        elif draw < P_FLIPPED + P_CUT + P_JOINED:
            raw = raw[: max(8, len(raw) // 2)].rstrip(b"\n") + raw
        yield raw


def copied(path: Path, at_s: float, chance: np.random.Generator) -> None:
    """Now and then a second copy of a file, as a careless collector leaves one."""
    if chance.random() < P_COPIED:
        other = path.parent / "copy" / path.name
        other.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, other)
        stamp(other, at_s)
