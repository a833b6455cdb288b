"""Items shown that may not be shown."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.pool import OPEN_END, UNKNOWN_TIME, Times
from pipeline.core.scores import MetricInfo, Reason
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class Ineligible(Base):
    """Share of the items in the first places that are not eligible at the query's time.

    Formula: items at ranks up to the cutoff without eligible_from <= time < eligible_until /
    min(cutoff, list length). The shorter number divides, so that a list does not look better by
    being short. Source: this project.
    Range: 0 to 1, lower is better. Unanswered query: 1.
    Ties: ordered by the tie rule. Judgments and relevance do not matter; the metric does not exist
    in an item slice. Items outside the pool, and queries without a time, count as eligible:
    nothing is known against them. Where no item of the pool has a window, or no query a time,
    nothing could be ineligible, so that 0 would say nothing: the metric is undefined.

    Attributes:
        cutoff: places that count.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "Ineligible"

    cutoff: int
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            direction="lower",
            worst=1.0,
            formula=(
                f"ineligible items in the first {self.cutoff} / min({self.cutoff}, list length)"
            ),
            words=(
                f"The share of the items in the first {self.cutoff} that may not be shown at the "
                "query's time; ties stand by the tie rule. Items outside the pool count as "
                "eligible, judged or not; an unanswered query scores 1. Undefined in a pool "
                "without eligibility windows or without query times."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        count = np.sum(~view.eligible(self.cutoff), axis=1)
        values, reason = view.settle(self.info(), count / np.maximum(view.shown(self.cutoff), 1))
        if not _measurable(view.pool.times):
            values[:] = np.nan
            reason[reason != Reason.UNJUDGED] = Reason.UNDEFINED
        return values, reason


def _measurable(times: Times) -> bool:
    windows = (times.eligible_from != UNKNOWN_TIME) | (times.eligible_until != OPEN_END)
    return bool(windows.any() and (times.query != UNKNOWN_TIME).any())


PLUGIN = Ineligible
