"""Item slices by age at the query's time."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.pool import UNKNOWN_TIME, Pool
from pipeline.core.problems import fault
from pipeline.slices import ItemSlice, Part

_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class ItemAge:
    """Judgments of items that were at most so old when the query was asked.

    An item's age is the query's time less the item's creation; an item that did not exist yet is
    not new. Where either is not known the judgment is left out and counted, not guessed.

    Attributes:
        days: largest age, inclusive; may be a fraction.
        min_days: smallest age, inclusive.
    """

    days: float
    min_days: float = 0.0

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if not 0 <= self.min_days <= self.days:
            raise ValueError("ages are 0 <= min_days <= days")

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One item slice."""
        judgments = pool.judgments
        asked = np.repeat(pool.times.query, np.diff(judgments.query_ptr))
        created = pool.times.created[judgments.item]
        dated = (asked != UNKNOWN_TIME) & (created != UNKNOWN_TIME)
        if len(dated) and not dated.any():
            text = f"slices.defs.{name}: no judgment has both a query's time and an item's date"
            fix = "queries need issued_at or the pool as_of; items need created_at"
            raise fault("no_dates", text, fix)
        age = np.where(dated, asked, 0) - np.where(dated, created, 0)
        mask = dated & (age >= self.min_days * _DAY) & (age <= self.days * _DAY)
        words = f"items {self.min_days:g} to {self.days:g} days old at the query's time"
        return (ItemSlice(name, mask, words, undated=int((~dated).sum())),)


PLUGIN = ItemAge
