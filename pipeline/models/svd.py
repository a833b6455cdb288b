"""Truncated singular value decomposition of the person-item matrix (PureSVD)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from pipeline.core.arrays import F64, I32
from pipeline.core.pool import Pool
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._identity import fitted
from pipeline.models._interactions import read


@dataclass(frozen=True, slots=True)
class Svd(Model):
    """An item's score is the person's row of the matrix, rebuilt from its largest factors.

    The matrix holds 1 where a person met an item, else 0. Cremonesi, Koren and Turrin,
    Performance of recommender algorithms on top-N recommendation tasks, RecSys 2010.
    A person without a history gets 0 for every item.

    Attributes:
        factors: factors kept; all of them where the matrix has no more.
        seed: of the vector that the iteration starts from; moves scores by rounding only.
    """

    factors: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the options."""
        if self.factors < 1:
            raise ValueError(f"factors must be at least 1, not {self.factors}")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the libraries that solve it."""
        return fitted(self, name, requested, "numpy", "scipy")

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores from the history of each query's person.

        Raises:
            SamepoolError: the pool has no logs.
        """
        log = read(pool, "svd")
        met = log.matrix()
        axes = item_factors(met, self.factors, self.seed)
        # One row a query: where queries share a person, they share its row.
        people = (met @ axes.T)[log.person_of_query]
        return rank_blocks(
            pool,
            tools,
            "svd",
            lambda block, _mask: _product(people[block], axes),
            pairs=ByPair(lambda query, item: _products(people, axes, query, item)),
        )


def item_factors(met: sparse.csr_array, factors: int, seed: int) -> F64:
    """(K, I) right singular vectors of the largest singular values, as rows.

    One thread only: with more, BLAS adds in another order, and scores would differ in their last
    bits from machine to machine with the number of cores.
    """
    small = min(met.shape)
    with threadpool_limits(limits=1):
        if factors >= small:
            return np.linalg.svd(met.toarray(), full_matrices=False)[2]
        start = np.random.default_rng(seed).standard_normal(small)
        return svds(met, k=factors, v0=start, solver="arpack")[2]


def _product(people: F64, axes: F64) -> F64:
    """(B, I) people @ axes, adding factor by factor: the same bits for every size of block."""
    scores = np.zeros((len(people), axes.shape[1]))
    step = np.empty_like(scores)
    for factor, axis in zip(people.T, axes, strict=True):
        np.multiply(factor[:, None], axis, out=step)
        scores += step
    return scores


def _products(people: F64, axes: F64, query: I32, item: I32) -> F64:
    """(N,) the same of pairs, to the bit."""
    scores = np.zeros(len(query))
    for factor, axis in zip(people.T, axes, strict=True):
        scores += factor[query] * axis[item]
    return scores


PLUGIN = Svd
