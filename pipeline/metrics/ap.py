"""Average precision."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.kernels.gains import total
from pipeline.kernels.order import places
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class AP(Base):
    """Mean over a query's relevant items of the precision at their ranks; its mean is the MAP.

    Formula: sum over relevant items at ranks up to the cutoff of (relevant items up to that rank /
    rank), divided by the relevant items judged. With a cutoff too the whole number divides, not
    min(cutoff, relevant), as in trec_eval map_cut. Source: Buckley and Voorhees 2000; trec_eval.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged items are not relevant and hold their ranks; an
    ineligible relevant item counts among those to be found, never among those found. Short list:
    what it does not hold adds nothing. Nothing relevant: 0 / 0, so that the query is left out.

    Attributes:
        cutoff: ranks that count; None for all.
        rel: smallest relevant grade; the conventions' relevant_from where unset.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "AP"
    ALIASES: ClassVar[tuple[str, ...]] = ("MAP",)

    cutoff: int | None = None
    rel: float | None = None
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"sum of precision at relevant items {self.within()} / relevant items judged",
            words=(
                f"Precision at the rank of each relevant item {self.within()}, averaged over all "
                "relevant items; ties stand by the tie rule. Unjudged items are not relevant, "
                "relevant ones that are ineligible or not returned add 0; queries with nothing "
                "relevant are left out."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        query, rank = view.found(self.rel)
        precision = places(query) / rank
        if self.cutoff is not None:
            counts = rank <= self.cutoff
            query, precision = query[counts], precision[counts]
        relevant = view.n_relevant(self.rel)
        mean = total(query, precision, view.n) / np.maximum(relevant, 1)
        return view.settle(self.info(), mean, relevant > 0)


PLUGIN = AP
