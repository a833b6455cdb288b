"""Precision."""

from dataclasses import dataclass
from typing import ClassVar

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class P(Base):
    """Share of the first places that hold a relevant item.

    Formula: relevant items at ranks up to the cutoff / cutoff. Source: trec_eval P.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged and ineligible items are not relevant. Short list: the
    cutoff divides all the same, so that missing places count as not relevant. Nothing relevant: 0.

    Attributes:
        cutoff: places that count.
        rel: smallest relevant grade; the conventions' relevant_from where unset.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "P"
    ALIASES: ClassVar[tuple[str, ...]] = ("Precision",)

    cutoff: int
    rel: float | None = None
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"relevant items in the first {self.cutoff} / {self.cutoff}",
            words=(
                f"The share of the first {self.cutoff} places that hold a relevant item; ties "
                "stand by the tie rule. Unjudged and ineligible items and missing places are not "
                "relevant; queries with nothing relevant score 0."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        share = view.n_found(self.rel, self.cutoff) / self.cutoff
        return view.settle(self.info(), share, view.n_relevant(self.rel) > 0, "zero")


PLUGIN = P
