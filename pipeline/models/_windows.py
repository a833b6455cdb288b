"""Counts an item's interactions between two moments."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import F64, I64
from pipeline.core.pool import UNKNOWN_TIME
from pipeline.models._interactions import Interactions

DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Dated interactions, ready for counting.

    Attributes:
        at: (N,) times, ascending.
        key: (N,) item code and place in ``at`` as one number, ascending.
    """

    at: I64
    key: I64

    def count(self, item: I64, since: I64, before: I64) -> F64:
        """Interactions with the items at since <= time < before; all three broadcast.

        Args:
            item: item codes.
            since: microseconds since 1970 UTC.
            before: likewise.
        """
        first, past = np.searchsorted(self.at, since), np.searchsorted(self.at, before)
        start = item * (len(self.at) + 1)
        found = np.searchsorted(self.key, start + past) - np.searchsorted(self.key, start + first)
        return found.astype(np.float64)


def windows(log: Interactions) -> Windows:
    """The dated rows of a log; a row without a date cannot be said to precede anything."""
    dated = log.at != UNKNOWN_TIME
    at, item = log.at[dated], log.item[dated].astype(np.int64)
    order = np.argsort(at, kind="stable")
    key = item[order] * (len(at) + 1) + np.arange(len(at))
    return Windows(at[order], np.sort(key))
