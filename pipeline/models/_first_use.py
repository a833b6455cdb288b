"""Where codes are used first: for numbering ids in the order in which lists name them."""

import numpy as np

from pipeline.core.arrays import I32, I64


def first_use(codes: I32, n: int) -> I64:
    """(n,) the first place of each code 0..n-1 in ``codes``; len(codes) where it has none.

    >>> first_use(np.array([2, 0, 2], dtype=np.int32), 4)
    array([1, 3, 0, 3])
    """
    first = np.full(n, len(codes), dtype=np.int64)
    # Of several writes to one place the last one stands, so from the back it is the first use.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def in_order(first: I64, n_rows: int) -> I64:
    """The codes that are used at all, in order of first use."""
    used = np.flatnonzero(first < n_rows)
    return used[np.argsort(first[used])]
