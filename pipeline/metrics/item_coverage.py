"""How much of the catalogue is shown to anybody."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import Bool
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class ItemCoverage(Base):
    """Share of the catalogue that stands in the first places of at least one list.

    Formula: distinct items of the pool, eligible at their query's time, at ranks up to the cutoff
    over all judged queries of the slice / catalogue size: the declared one, else the number of
    items in the pool. Source: Ge, Delgado-Battenfeld and Jannach 2010 (catalogue coverage).
    Range: 0 to 1, higher is better; one value for a set of lists, which is no mean over queries
    and grows with their number: compare models on the same queries, never slices with each other.
    Unanswered queries show nothing. Ties: ordered by the tie rule. Judgments do not matter; items
    outside the pool are not of the catalogue. Does not exist in an item slice or without queries.

    Attributes:
        cutoff: places that count.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "ItemCoverage"

    cutoff: int
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            per="list",
            formula=f"distinct eligible items in the first {self.cutoff} / catalogue size",
            words=(
                f"The share of the catalogue that somebody is shown in the first {self.cutoff}; it "
                "grows with the number of queries, and ties stand by the tie rule. Unjudged items "
                "count as any other; ineligible ones and those outside the pool do not."
            ),
        )

    def measure(self, view: View, queries: Bool) -> float:
        """The value over the queries of a mask (Q,)."""
        items = len(view.pool.vocab.items)
        top = view.top(self.cutoff)
        counts = (top >= 0) & (top < items) & view.eligible(self.cutoff) & queries[:, None]
        shown = np.unique(top[counts]).size
        declared = view.pool.declared.catalogue
        size = items if declared is None else declared
        if shown > size:
            text = f"the catalogue is declared to hold {size} items, but {shown} were shown"
            raise fault("small_catalogue", text, "declare the number of items that may be shown")
        return shown / size if size else float("nan")


PLUGIN = ItemCoverage
