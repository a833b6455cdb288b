"""Lists from vectors of texts: sparse ones by shared terms, dense ones by their cosine."""

import numpy as np
from scipy import sparse

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import Pool
from pipeline.models import Ranking, Tools
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._pairwise import paired

_GRID = 2.0**24
_DUST = 2.0**-30  # lengths below are what rounding left of nothing


def by_terms(
    pool: Pool, tools: Tools, label: str, queries: sparse.csr_array, items: sparse.csr_array
) -> Ranking:
    """Scores queries @ items.T; an item that shares no weighty term with the query is no match.

    Args:
        pool: what is asked.
        tools: depth and progress.
        label: what progress is called.
        queries: (Q, V) weights of terms, at least 0.
        items: (I, V) likewise.
    """
    # Row by row, term by term in ascending order: the same bits for every size of block.
    to_items = items.T.tocsr()
    to_items.sort_indices()

    def score(block: slice, _mask: Bool) -> F64:
        scores: F64 = (queries[block] @ to_items).toarray()
        return scores

    def pairs(query: I32, item: I32) -> F64:
        return paired(queries, items, query, item)

    shared = ByPair(pairs, matched=lambda _query, scores: scores > 0)
    return rank_blocks(pool, tools, label, score, pairs=shared)


def by_cosine(pool: Pool, tools: Tools, label: str, queries: F64, items: F64) -> Ranking:
    """Scores every item that has a vector; a query without one is not answered.

    Args:
        pool: what is asked.
        tools: depth and progress.
        label: what progress is called.
        queries: (Q, K) vectors; a row of zeros is none.
        items: (I, K) likewise.
    """
    asked, shown = unit(queries), unit(items)
    known, written = (np.asarray(part.any(axis=1), dtype=np.bool_) for part in (asked, shown))

    def matched(query: I64, scores: F64) -> Bool:
        return np.broadcast_to(known[query], scores.shape)

    def pairs(query: I32, item: I32) -> F64:
        scores: F64 = np.einsum("nk,nk->n", asked[query], shown[item])  # exact: the same bits
        return scores

    return rank_blocks(
        pool,
        tools,
        label,
        lambda block, _mask: asked[block] @ shown.T,
        written,
        ByPair(pairs, matched),
    )


def unit(vectors: F64) -> F64:
    """(N, K) rows scaled to length 1, rounded to multiples of 2**-24; those without length are 0.

    Products of two such numbers are multiples of 2**-48, and no partial sum of a dot product of
    two such rows leaves (-2, 2): all of them are exact in float64, so that the order in which BLAS
    adds, which depends on blocks, threads and machine, changes no bit.
    """
    length = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    scaled = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > _DUST)
    rounded: F64 = np.round(scaled * _GRID) / _GRID
    return rounded
