"""Recent popularity: the items that the logs hold most often shortly before the query's time."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import F64, I32, Bool
from pipeline.core.pool import Pool
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._identity import fitted
from pipeline.models._interactions import need_times, read
from pipeline.models._windows import DAY, windows


@dataclass(frozen=True, slots=True)
class RecentPopularity(Model):
    """An item's score is its number of interactions in a window that ends at the query's time.

    Attributes:
        window_days: length of the window; what happened at the query's very time is outside it.
    """

    window_days: float = 30.0

    def __post_init__(self) -> None:
        """Checks the option."""
        if self.window_days <= 0:
            raise ValueError(f"window_days must be above 0, not {self.window_days}")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its option and its code."""
        return fitted(self, name, requested)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores by each query's own time.

        Raises:
            SamepoolError: the pool has no dated logs, or a query has no time.
        """
        log = read(pool, "recent_popularity")
        need_times(log, pool, "recent_popularity")
        counter = windows(log)
        items = np.arange(log.n_items, dtype=np.int64)
        length = round(self.window_days * DAY)

        def score(block: slice, _mask: Bool) -> F64:
            before = pool.times.query[block, None]
            return counter.count(items, before - length, before)

        def pairs(query: I32, item: I32) -> F64:
            before = pool.times.query[query]
            return counter.count(item.astype(np.int64), before - length, before)

        return rank_blocks(pool, tools, "recent popularity", score, pairs=ByPair(pairs))


PLUGIN = RecentPopularity
