"""Item-to-item nearest neighbours: items like those that the person has met."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pipeline.core.arrays import F64, I32, Bool
from pipeline.core.pool import Pool
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools, _blocks
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._identity import fitted
from pipeline.models._interactions import read
from pipeline.models._pairwise import paired
from pipeline.models._top import top


@dataclass(frozen=True, slots=True)
class ItemKnn(Model):
    """An item's score is the sum of its similarities to the items in the person's history.

    Similarity is the shrunken cosine over people, n(i, j) / (sqrt(n(i) n(j)) + shrink), with n
    the number of people who met the item, or both; each item keeps its nearest neighbours only.
    Sarwar et al., Item-based collaborative filtering recommendation algorithms, WWW 2001.
    A person without a history gets 0 for every item.

    Attributes:
        neighbours: neighbours an item keeps; all that tie with the last one are kept too.
        shrink: pulls similarities that rest on few people towards 0.
    """

    neighbours: int = 50
    shrink: float = 0.0

    def __post_init__(self) -> None:
        """Checks the options."""
        if self.neighbours < 1:
            raise ValueError(f"neighbours must be at least 1, not {self.neighbours}")
        if self.shrink < 0:
            raise ValueError(f"shrink must be at least 0, not {self.shrink}")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options and its code."""
        return fitted(self, name, requested, "scipy")

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores from the history of each query's person.

        Raises:
            SamepoolError: the pool has no logs.
        """
        log = read(pool, "item_knn")
        met = log.matrix()
        similar = neighbours(met, self.neighbours, self.shrink)
        to_items = similar.T.tocsr()
        history = met[log.person_of_query]

        def score(block: slice, _mask: Bool) -> F64:
            scores: F64 = (history[block] @ to_items).toarray()
            return scores

        def pairs(query: I32, item: I32) -> F64:
            return paired(history, similar, query, item)

        return rank_blocks(pool, tools, "item neighbours", score, pairs=ByPair(pairs))


def neighbours(met: sparse.csr_array, keep: int, shrink: float) -> sparse.csr_array:
    """(I, I) similarities; row i holds those of item i's nearest neighbours.

    Args:
        met: (people, I) 1 where the person met the item.
        keep: neighbours an item.
        shrink: added to the denominator, >= 0.
    """
    n_items = met.shape[1]
    by_item = met.T.tocsr()
    people = np.diff(by_item.indptr).astype(np.float64)
    size = max(1, _blocks.CELLS // n_items)
    parts = []
    for start in range(0, n_items, size):
        block = slice(start, min(start + size, n_items))
        both = (by_item[block] @ met).toarray()
        length = np.sqrt(people[block, None] * people) + shrink
        similar = np.divide(both, length, out=np.zeros_like(both), where=both > 0)
        own = np.arange(block.start, block.stop)
        similar[own - block.start, own] = 0.0
        rows, columns = top(similar, similar > 0, keep)
        shape = similar.shape
        parts.append(sparse.coo_array((similar[rows, columns], (rows, columns)), shape).tocsr())
    similarities: sparse.csr_array = sparse.vstack(parts, format="csr")
    return similarities


PLUGIN = ItemKnn
