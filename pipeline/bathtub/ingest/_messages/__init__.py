"""Message grammars: what one message says, whatever wraps it.

A grammar is one module of this package that exports GRAMMAR, found by walking it. It is routed by emitter first,
then by its literals, which are also what the scan of a log looks for.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from bathtub.schema import Table

REMEMBERED_LENGTH = 1024


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
    A message that `opens` is kept in mind, and one right behind it that `goes_on` is parsed with it in front, a line
    break between. `needs_node` marks rows that say nothing without a node.
    """

    name: str
    version: str
    table: Table
    emitters: frozenset[str]
    literals: tuple[bytes, ...]
    parse: Callable[[str], Said | None]
    opens: re.Pattern[str] | None = None
    goes_on: re.Pattern[str] | None = None
    needs_node: bool = False

    def whole(self, text: str, held: MutableMapping[str, str]) -> str:
        """The message with what it goes on from, `held` by name of grammar, in front."""
        if self.opens is None or self.goes_on is None:
            return text
        opening = held.pop(self.name, None)
        joined = f"{opening}\n{text}" if opening is not None and self.goes_on.match(text) else text
        if joined is not text or self.opens.match(text):
            held[self.name] = joined
        return joined


@cache
def grammars() -> tuple[Grammar, ...]:
    """Every grammar, in order of names."""
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").GRAMMAR for name in modules)


def of_emitter(emitter: str | None) -> tuple[Grammar, ...]:
    """The grammars of one emitter, in order of names; all where a log has several (None)."""
    return tuple(grammar for grammar in grammars() if emitter is None or emitter in grammar.emitters)


@cache
def _searched(emitter: str) -> tuple[tuple[Grammar, tuple[str, ...]], ...]:
    return tuple((grammar, tuple(literal.decode() for literal in grammar.literals)) for grammar in of_emitter(emitter))


def _alone(emitter: str, text: str) -> tuple[tuple[Grammar, Said | None], ...]:
    """The grammars that a message may be the business of, and what each says of it by itself."""
    return tuple(
        (grammar, grammar.parse(text)) for grammar, literals in _searched(emitter) if any(literal in text for literal in literals)
    )


_remembered = lru_cache(maxsize=2048)(_alone)


def interpret(emitter: str | None, text: str, held: MutableMapping[str, str]) -> tuple[Grammar, Said] | None:
    """What the first grammar of this emitter that knows the message says of it; None where none does.

    `held` is what was said before on the same node and may go on. Faults repeat: short messages are remembered.
    """
    if emitter is None:
        return None
    for grammar, said in (_remembered if len(text) <= REMEMBERED_LENGTH else _alone)(emitter, text):
        whole = grammar.whole(text, held)
        told = said if whole is text else grammar.parse(whole)
        if told is not None:
            return grammar, told
    return None
