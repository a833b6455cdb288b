"""Recall."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class R(Base):
    """Share of the query's relevant items that stand in the first places.

    Formula: relevant items at ranks up to the cutoff / relevant items judged. The whole number
    divides, not min(cutoff, relevant): a query with more relevant items than places cannot reach
    1. Source: trec_eval recall.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged items are not relevant; an ineligible relevant item
    counts among those to be found, never among those found. Short list: nothing special. Nothing
    relevant: 0 / 0, so that the query is left out.

    Attributes:
        cutoff: places that count; None for the whole list.
        rel: smallest relevant grade; the conventions' relevant_from where unset.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "R"
    ALIASES: ClassVar[tuple[str, ...]] = ("Recall",)

    cutoff: int | None = None
    rel: float | None = None
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"relevant items {self.within()} / relevant items judged",
            words=(
                f"The share of a query's relevant items that stand {self.within()}; ties stand by "
                "the tie rule. Unjudged items are not relevant, ineligible relevant ones count as "
                "not found; queries with nothing relevant are left out."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        relevant = view.n_relevant(self.rel)
        share = view.n_found(self.rel, self.cutoff) / np.maximum(relevant, 1)
        return view.settle(self.info(), share, relevant > 0)


PLUGIN = R
