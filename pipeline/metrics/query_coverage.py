"""Queries that are answered in full."""

from dataclasses import dataclass
from typing import ClassVar

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class QueryCoverage(Base):
    """Whether the list fills the first places; its mean is the share of queries served.

    Formula: 1 if the list holds at least cutoff items, else 0. A value a query, so that models
    are compared in pairs like in any other metric. Source: Ge, Delgado-Battenfeld and Jannach 2010
    (prediction coverage, there of users).
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties, judgments, eligibility and relevance do not matter; the metric does not exist in an item
    slice.

    Attributes:
        cutoff: items that make an answer.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "QueryCoverage"

    cutoff: int
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"1 if the list holds at least {self.cutoff} items, else 0",
            words=(
                f"The share of judged queries that get at least {self.cutoff} items. What the "
                "items are, judged or not, eligible or not, does not matter, and neither do ties."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        return view.settle(self.info(), (view.lists.length >= self.cutoff).astype(float))


PLUGIN = QueryCoverage
