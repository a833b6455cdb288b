"""Reciprocal rank."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.kernels.order import starts
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class RR(Base):
    """Reciprocal of the first relevant item's rank; its mean is the MRR.

    Formula: 1 / rank of the first relevant item, 0 where none stands at a rank up to the cutoff.
    Source: Kantor and Voorhees 2000; trec_eval recip_rank.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule, with and without a cutoff. Unjudged and ineligible items are not
    relevant and hold their ranks. Short list: nothing special. Nothing relevant: 0.

    Attributes:
        cutoff: ranks that count; None for all.
        rel: smallest relevant grade; the conventions' relevant_from where unset.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "RR"
    ALIASES: ClassVar[tuple[str, ...]] = ("MRR",)

    cutoff: int | None = None
    rel: float | None = None
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"1 / rank of the first relevant item {self.within()}, else 0",
            words=(
                f"How soon the first relevant item {self.within()} comes; ties stand by the tie "
                "rule. Unjudged and ineligible items are not relevant and hold their ranks; "
                "queries with nothing relevant score 0."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        query, rank = view.found(self.rel)
        counts = starts(query)
        if self.cutoff is not None:
            counts &= rank <= self.cutoff
        values = np.zeros(view.n)
        values[query[counts]] = 1.0 / rank[counts]
        return view.settle(self.info(), values, view.n_relevant(self.rel) > 0, "zero")


PLUGIN = RR
