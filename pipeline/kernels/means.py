"""The mean of a metric over queries."""

import numpy as np

from pipeline.core.arrays import F64, Bool


def macro(values: F64, mask: Bool) -> tuple[float | None, int]:
    """Macro mean: the values that exist in the mask, each query counting once.

    Args:
        values: (Q,) a value a query; NaN where it has none.
        mask: (Q,) queries that may count.

    Returns:
        The sum of ``values[mask & ~isnan(values)]`` divided by n, None where n is 0; and n, the
        number of these values. Infinite values count. The sum is NumPy's over the kept values in
        the order of queries, so the mean depends on nothing but the values and that order.

    >>> macro(np.array([1.0, np.nan, 0.5, 9.0]), np.array([True, True, True, False]))
    (0.75, 2)
    >>> macro(np.array([np.nan]), np.array([True]))
    (None, 0)
    """
    kept = values[mask & ~np.isnan(values)]
    return (float(kept.mean()) if kept.size else None), kept.size
