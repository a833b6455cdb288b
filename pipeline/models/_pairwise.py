"""Products of sparse rows, pair by pair: all of two matrices would be mostly waste."""

import numpy as np
from scipy import sparse

from pipeline.core.arrays import F64, I32

ENTRIES = 5_000_000  # numbers of rows copied at once: some 60 MB


def paired(left: sparse.csr_array, right: sparse.csr_array, row: I32, column: I32) -> F64:
    """(N,) left[row] . right[column], to the bit the entries of left @ right.T.

    Both add what a pair shares in the order of the columns, which must ascend in every row.

    Args:
        left: (Q, V).
        right: (I, V).
        row: (N,) rows of ``left``.
        column: (N,) rows of ``right``.
    """
    found = np.zeros(len(row))
    held = np.cumsum(np.diff(left.indptr)[row] + np.diff(right.indptr)[column], dtype=np.int64)
    ones = np.ones(left.shape[1])  # a product adds one by one, as that of matrices; sum() does not
    start = 0
    while start < len(row):
        before = int(held[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(held, before + ENTRIES, side="right")))
        part = slice(start, stop)
        found[part] = left[row[part]].multiply(right[column[part]]).tocsr() @ ones
        start = stop
    return found
