"""How much of what was shown has been judged."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class Judged(Base):
    """Share of the items in the first places that have a judgment.

    Formula: judged items at ranks up to the cutoff / min(cutoff, list length). The shorter number
    divides since a place without an item holds nothing that could be judged: a short list whose
    items are all judged leaves nothing unknown. Source: ir_measures Judged, which divides alike.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. A negative grade is a judgment. Relevance does not matter, so
    that nothing relevant is nothing special, and the metric does not exist in an item slice.

    Attributes:
        cutoff: places that count.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "Judged"

    cutoff: int
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"judged items in the first {self.cutoff} / min({self.cutoff}, list length)",
            words=(
                f"The share of the items in the first {self.cutoff} that have a judgment, of "
                "whatever grade; ties stand by the tie rule. Where it is low, or differs between "
                "models, the other metrics say little: they read unjudged items as not relevant."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        query = view.lists.hit_query[view.lists.rank <= self.cutoff]
        judged = np.bincount(query, minlength=view.n)
        return view.settle(self.info(), judged / np.maximum(view.shown(self.cutoff), 1))


PLUGIN = Judged
