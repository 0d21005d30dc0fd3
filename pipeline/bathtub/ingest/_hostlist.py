"""Host lists as Slurm prints them (`n[001-003,007],gpu5`) to node names, bounded before anything is expanded.

The expansion is ClusterShell's, without its groups, operators and steps: what is not a plain host list is refused
by the pattern first. Padding is part of a name. A list of more than 65,536 names is refused: Slurm allows no more.
"""

import re
from functools import lru_cache

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

MAX_NODES = 1 << 16
MAX_BRACKETS = 8  # of one item: Slurm names have five dimensions at most, and each more costs the expansion dearly
MAX_EXPANDED = 1 << 26  # characters that the rows of one record may hold in all: its texts times its nodes
SHORT = 64  # names in a list that is worth remembering

# n[1-4]c[01-09]      one item of a list: names and brackets, no operator, no group, no step
_ITEM = re.compile(r"(?:[A-Za-z0-9_.\-]|\[[0-9,\-]*\])+")
_BRACKET = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")

NO_NODE = ("None assigned", "None", "(null)", "Unknown", "N/A", "")
"""What stands where there is no node; a host list library would make names of them."""


@lru_cache(maxsize=1 << 14)
def count_nodes(text: str) -> int | None:
    """How many names a host list has at most; None where it is no host list, or one that is too long."""
    items = _ITEM.findall(text)
    if not items or ",".join(items) != text:
        return None
    total = 0
    for item in items:
        size = 1
        brackets = _BRACKET.findall(item)
        if len(brackets) > MAX_BRACKETS:
            return None
        for bracket in brackets:
            size *= _count_ranges(bracket)
        total += size
        if not 0 < size <= MAX_NODES or total > MAX_NODES:
            return None
    return total


def _count_ranges(text: str) -> int:
    """The numbers in `001-003,007`; 0 where it is not made of ranges."""
    total = 0
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if found is None or int(found[2] or found[1]) < int(found[1]):
            return 0
        total += int(found[2] or found[1]) - int(found[1]) + 1
    return total


def expand_nodes(text: str) -> tuple[str, ...] | None:
    """The names of a host list in ClusterShell's order, each once; None where it cannot be read."""
    size = count_nodes(text)
    if size is None:
        return None
    return _remembered(text) if size <= SHORT else _expanded(text)


@lru_cache(maxsize=1 << 14)
def _remembered(text: str) -> tuple[str, ...] | None:
    return _expanded(text)


def _expanded(text: str) -> tuple[str, ...] | None:
    try:
        return tuple(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except NodeSetException:
        return None
