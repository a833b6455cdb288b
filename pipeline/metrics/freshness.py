"""How new the items are that are shown: their mean age, and the share of new ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8, Bool
from pipeline.core.pool import UNKNOWN_TIME
from pipeline.core.scores import MetricInfo
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._view import View


@dataclass(frozen=True)
class Age(Base):
    """Mean age in days, at the query's time, of the items in the first places.

    Formula: mean of (time of query - created_at) over dated items at ranks up to the cutoff.
    Items without a date, or made after the query, are left out of the mean. Source: this project.
    Range: 0 to unbounded, lower is fresher. Unanswered query: no value, as no age is the worst;
    such pairs drop out of comparisons and are counted. No dated item, or a query without a time:
    does not exist there.
    Ties: ordered by the tie rule. Judgments and relevance do not matter; does not exist in an item
    slice. Short list: the mean of what there is.

    Attributes:
        cutoff: places that count.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "Age"

    cutoff: int
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            direction="lower",
            range=(0.0, None),
            worst=None,
            formula=f"mean age in days of the dated items in the first {self.cutoff}",
            words=(
                f"How old, in days, the items in the first {self.cutoff} are when the query is "
                "asked; ties stand by the tie rule. Undated items are left out, judgments do not "
                "matter, and an unanswered query has no value."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        age = view.age(self.cutoff)
        dated = ~np.isnan(age)
        n_dated = np.sum(dated, axis=1)
        mean = np.sum(np.where(dated, age, 0.0), axis=1) / np.maximum(n_dated, 1)
        return view.settle(self.info(), mean, undefined=n_dated == 0)


@dataclass(frozen=True)
class Freshness(Base):
    """Share of the items in the first places that are new at the query's time.

    Formula: items at ranks up to the cutoff with 0 <= age <= new days / min(cutoff, list length).
    An undated item is not known to be new and does not count as new. Source: this project.
    Range: 0 to 1, higher is better. Unanswered query: 0. A query without a time, or a pool in
    which no item has a date: does not exist there; this depends on the pool alone, so that models
    are compared on the same queries.
    Ties: ordered by the tie rule. Judgments and relevance do not matter; does not exist in an item
    slice.

    Attributes:
        cutoff: places that count.
        new: age in days up to which an item is new; always part of the label.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "Freshness"
    PRINTED: ClassVar[frozenset[str]] = frozenset({"new"})

    cutoff: int
    new: float = 30.0
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=(
                f"items at most {self.new:g} days old in the first {self.cutoff} / "
                f"min({self.cutoff}, list length)"
            ),
            words=(
                f"The share of the items in the first {self.cutoff} that are at most {self.new:g} "
                "days old when the query is asked; ties stand by the tie rule. Undated items do "
                "not count as new, and judgments do not matter."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        n_new = np.sum(view.age(self.cutoff) <= self.new, axis=1)  # NaN is never new
        share = n_new / np.maximum(view.shown(self.cutoff), 1)
        return view.settle(self.info(), share, undefined=_without_dates(view))


def _without_dates(view: View) -> Bool:
    """(Q,) whether nothing can be known of ages: no time, or a pool without dates."""
    times = view.pool.times
    undated: Bool = (times.query == UNKNOWN_TIME) | bool((times.created == UNKNOWN_TIME).all())
    return undated


PLUGINS = (Age, Freshness)
