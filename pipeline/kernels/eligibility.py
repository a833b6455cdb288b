"""Whether an item may be shown at a time."""

import numpy as np

from pipeline.core.arrays import I64, Bool

UNKNOWN_TIME = int(np.iinfo(np.int64).min)  # as in core.pool, whose tables kernels do not know


def eligible(query_time: I64, eligible_from: I64, eligible_until: I64) -> Bool:
    """Whether eligible_from <= query_time < eligible_until; true where the time is unknown.

    Args:
        query_time: microseconds since 1970 UTC; UNKNOWN_TIME where unknown.
        eligible_from: first moment; UNKNOWN_TIME, which precedes all others, where open.
        eligible_until: first moment no longer; OPEN_END where open. The three broadcast.

    >>> eligible(np.array([5, 10, UNKNOWN_TIME]), np.array([5]), np.array([10])).tolist()
    [True, False, True]
    """
    known = query_time != UNKNOWN_TIME
    inside = (eligible_from <= query_time) & (query_time < eligible_until)
    return np.asarray(inside | ~known, dtype=np.bool_)
