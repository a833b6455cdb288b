"""The best-scored items of each row, ties at the cut included."""

import numpy as np

from pipeline.core.arrays import F64, I64, Bool


def top(scores: F64, mask: Bool, keep: int) -> tuple[I64, I64]:
    """Places of what is kept, by ascending row and, within a row, ascending column.

    Args:
        scores: (B, I) larger is better.
        mask: (B, I) what may be kept.
        keep: items a row, >= 1; all that tie with the last one kept are kept too, so that no
            order among equals decides who stays.

    Returns:
        rows (N,) and columns (N,).

    >>> top(np.array([[3.0, 1.0, 2.0, 2.0]]), np.array([[True, True, True, True]]), 2)[1]
    array([0, 2, 3])
    """
    if keep < scores.shape[1]:
        last = scores.shape[1] - keep
        held = np.where(mask, scores, -np.inf)
        held.partition(last, axis=1)
        mask = mask & (scores >= held[:, last, None])
    rows, columns = np.nonzero(mask)
    return rows, columns
