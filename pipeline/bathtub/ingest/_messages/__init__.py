"""Message grammars: what one message says, whatever wraps it.

A grammar is one module of this package that exports GRAMMAR, found by walking it. It is routed by emitter first,
then by its literals, which are also what the scan of a log looks for.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from bathtub.schema import Table


@dataclass(frozen=True)
class Reject:
    """The message looks like one of ours and cannot be read: a stable reason."""

    reason: str


Said: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]] | Reject
"""The own columns of one row or of several (a message about a host list), or why it cannot be read."""


@dataclass(frozen=True)
class Grammar:
    """What messages of some emitters say.

    `parse(text)` gives the row's own columns (a list of them where a message makes several rows), a Reject, or None
    where the message is not its business.
    `literals` are byte strings (4 or more bytes, rare in healthy logs) of which every message of ours holds one.
    """

    name: str
    version: str
    table: Table
    emitters: frozenset[str]
    literals: tuple[bytes, ...]
    parse: Callable[[str], Said | None]


@cache
def grammars() -> tuple[Grammar, ...]:
    """Every grammar, in order of names."""
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").GRAMMAR for name in modules)


def interpret(emitter: str | None, text: str) -> tuple[Grammar, Said] | None:
    """What the first grammar of this emitter that knows the message says of it; None where none does."""
    for grammar in grammars():
        if emitter in grammar.emitters:
            said = grammar.parse(text)
            if said is not None:
                return grammar, said
    return None
