"""Ordering of many lists at once: by score descending, then by a tie key.

Lists lie one after another in flat arrays; those of list i are ``ptr[i]:ptr[i + 1]``. Nothing is
sorted that stands in order already, which is how most files come.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.arrays import I64, Bool

Scores = NDArray[np.floating[Any]]


def descending(ptr: I64, score: Scores) -> I64 | None:
    """The stable order of each list by score descending.

    Args:
        ptr: (Q+1,) offsets of the lists.
        score: (N,) scores without NaN.

    Returns:
        (N,) rows in order, each list within its own offsets; None where all lists stand in order.

    >>> descending(np.array([0, 3, 5]), np.array([1.0, 3.0, 2.0, 5.0, 4.0]))
    array([1, 2, 0, 3, 4])
    >>> descending(np.array([0, 2]), np.array([2.0, 1.0])) is None
    True
    """
    rising = score[1:] > score[:-1]
    rising[_edges(ptr, score.size)] = False
    if not rising.any():
        return None
    unsorted = np.unique(np.searchsorted(ptr, np.flatnonzero(rising), side="right") - 1)
    rows = np.arange(score.size)
    # Lists of like length are sorted as one padded matrix, which is several times faster than one
    # sort over all rows; powers of two bound the padding.
    bucket = np.frexp(np.diff(ptr)[unsorted])[1]
    for size in np.unique(bucket):
        _sort_alike(ptr, score, unsorted[bucket == size], rows)
    return rows


def _sort_alike(ptr: I64, score: Scores, lists: I64, rows: I64) -> None:
    """Writes the order of some lists of like length into ``rows``."""
    length = np.diff(ptr)[lists, None]
    column = np.arange(length.max())
    cell = ptr[lists, None] + column
    inside = column < length
    # Padding stands last and the sort is stable, so that even a score of -inf comes before it.
    padded = np.where(inside, -score[np.minimum(cell, score.size - 1)], np.inf)
    order = np.argsort(padded, axis=1, kind="stable")
    rows[cell[inside]] = np.take_along_axis(cell, order, axis=1)[inside]


def ties(ptr: I64, score: Scores) -> tuple[I64, I64]:
    """Groups of two or more equal scores within ordered lists.

    Args:
        ptr: (Q+1,) offsets of the lists.
        score: (N,) scores, descending within a list.

    Returns:
        (G,) first row of each group and (G,) row after its last.

    >>> ties(np.array([0, 4]), np.array([3.0, 2.0, 2.0, 1.0]))
    (array([1]), array([3]))
    """
    equal = score[1:] == score[:-1]
    equal[_edges(ptr, score.size)] = False
    linked = np.flatnonzero(equal)  # row r is tied with row r + 1
    opens = np.flatnonzero(np.diff(linked, prepend=-2) != 1)
    closes = np.append(opens[1:], linked.size) - 1 if linked.size else opens
    return linked[opens], linked[closes] + 2


def members(first: I64, end: I64) -> tuple[I64, I64]:
    """All rows of the ranges first:end, and for each row the number of its range.

    >>> members(np.array([1, 7]), np.array([3, 8]))
    (array([1, 2, 7]), array([0, 0, 1]))
    """
    size = end - first
    group = np.repeat(np.arange(size.size), size)
    offset = np.arange(group.size) - (np.cumsum(size) - size)[group]
    return first[group] + offset, group


def within(group: I64, key: I64) -> I64 | None:
    """The stable order by ascending key inside ascending groups; None where it stands already.

    >>> within(np.array([0, 0, 1]), np.array([5, 3, 1]))
    array([1, 0, 2])
    >>> within(np.array([0, 0, 1]), np.array([3, 5, 1])) is None
    True
    """
    if bool(((key[1:] >= key[:-1]) | (group[1:] != group[:-1])).all()):
        return None
    low, high = int(key.min()), int(key.max())
    span = high - low + 1
    if span * (int(group[-1]) + 1) >= 2**63:
        order: I64 = np.lexsort((key, group))
        return order
    # One key for both: many times faster, as the groups stand in order already.
    return np.argsort(group * span + (key - low), kind="stable")


def starts(query: NDArray[np.integer[Any]]) -> Bool:
    """Whether each row is the first of its query, for ascending query codes.

    >>> starts(np.array([2, 2, 5]))
    array([ True, False,  True])
    """
    first = np.ones(query.size, dtype=bool)
    np.not_equal(query[1:], query[:-1], out=first[1:])
    return first


def places(query: NDArray[np.integer[Any]]) -> I64:
    """The place of each row within its query, from 1, for ascending query codes.

    >>> places(np.array([2, 2, 5]))
    array([1, 2, 1])
    """
    row = np.arange(query.size)
    first = starts(query)
    return row - np.maximum.accumulate(np.where(first, row, 0)) + 1


def _edges(ptr: I64, n: int) -> I64:
    """Rows that are the last of their list and have another list after them."""
    inner = ptr[1:-1]
    return inner[(inner > 0) & (inner < n)] - 1
