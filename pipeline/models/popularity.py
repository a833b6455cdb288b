"""Popularity: every query gets the items that the logs hold most often."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.pool import Pool
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._identity import fitted
from pipeline.models._interactions import read


@dataclass(frozen=True, slots=True)
class Popularity(Model):
    """An item's score is its number of interactions in the logs."""

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind and its code."""
        return fitted(self, name, requested)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """The same scores for every query, over its own rankable items.

        Raises:
            SamepoolError: the pool has no logs.
        """
        counts = read(pool, "popularity").counts()
        return rank_blocks(
            pool,
            tools,
            "popularity",
            lambda block, _mask: np.broadcast_to(counts, (block.stop - block.start, len(counts))),
            pairs=ByPair(lambda _query, item: counts[item]),
        )


PLUGIN = Popularity
