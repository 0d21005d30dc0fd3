"""Readings of a row whose delimiter stands in lists as well as in free text, such as a comma: which parts make which cell."""

from collections.abc import Iterator

from bathtub.ingest._sacct_layout import Layout

MAX_SURPLUS = 32


def alignments(parts: list[str], layout: Layout) -> Iterator[list[str]]:
    """Readings of parts, more than there are columns, in which each cell has its column's shape: none, the one, or two of them.

    None as well with more than MAX_SURPLUS parts too many.
    """
    surplus = len(parts) - len(layout.names)
    if not 0 < surplus <= MAX_SURPLUS:
        return
    widths = _widths(parts, layout, surplus)
    if not widths[0][0]:
        return
    first, last = (_cells(parts, layout, widths, choice) for choice in (0, -1))
    yield first
    if last != first:
        yield last


def _widths(parts: list[str], layout: Layout, surplus: int) -> list[list[list[int]]]:
    """By column and by the surplus parts before it: how many of them it can hold so that the columns behind it can be filled."""
    found: list[list[list[int]]] = []
    behind: list[list[int]] = [[] for _ in range(surplus)] + [[0]]
    for column in reversed(range(len(layout.names))):
        behind = [
            [
                width
                for width in (range(surplus - before + 1) if column in layout.holders else (0,))
                if behind[before + width]
                and layout.can_hold(column, layout.delimiter.join(parts[column + before : column + before + width + 1]))
            ]
            for before in range(surplus + 1)
        ]
        found.append(behind)
    return found[::-1]


def _cells(parts: list[str], layout: Layout, widths: list[list[list[int]]], choice: int) -> list[str]:
    """The reading that takes the first, or the last, of the widths everywhere: two readings differ somewhere, so these do."""
    cells, at = [], 0
    for column, options in enumerate(widths):
        end = at + 1 + options[at - column][choice]
        cells.append(layout.delimiter.join(parts[at:end]))
        at = end
    return cells
