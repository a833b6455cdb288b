"""Success."""

from dataclasses import dataclass
from typing import ClassVar

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class Success(Base):
    """Whether a relevant item stands in the first places; its mean is the hit rate.

    Formula: 1 if an item at a rank up to the cutoff is relevant, else 0. Source: trec_eval success.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged and ineligible items are not relevant. Short list:
    nothing special. Nothing relevant: 0.

    Attributes:
        cutoff: places that count.
        rel: smallest relevant grade; the conventions' relevant_from where unset.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "Success"
    ALIASES: ClassVar[tuple[str, ...]] = ("HitRate",)

    cutoff: int
    rel: float | None = None
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"1 if a relevant item stands in the first {self.cutoff}, else 0",
            words=(
                f"The share of queries with a relevant item in the first {self.cutoff}; ties stand "
                "by the tie rule. Unjudged and ineligible items are not relevant; queries with "
                "nothing relevant score 0."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        success = (view.n_found(self.rel, self.cutoff) > 0).astype(float)
        return view.settle(self.info(), success, view.n_relevant(self.rel) > 0, "zero")


PLUGIN = Success
