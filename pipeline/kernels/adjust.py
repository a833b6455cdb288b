"""Corrections for many comparisons."""

import math
from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down p-values, in the order given; strong control of the family-wise error.

    What has no p-value (None or NaN) was not tested: it stays None and does not count.

    Args:
        p: p-values in [0, 1].

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    tested = [(value, place) for place, value in enumerate(p) if not _absent(value)]
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for rank, (value, place) in enumerate(sorted(tested, key=lambda pair: pair[0] or 0.0)):
        largest = max(largest, min(1.0, (len(tested) - rank) * (value or 0.0)))
        adjusted[place] = largest
    return adjusted


def _absent(value: float | None) -> bool:
    return value is None or math.isnan(value)
