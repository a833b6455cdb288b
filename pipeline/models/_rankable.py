"""Which items a query may be given."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pipeline.core.arrays import Bool
from pipeline.core.pool import Pool, Times
from pipeline.kernels.eligibility import eligible
from pipeline.models import _interactions
from pipeline.models._encode import candidates


@dataclass(frozen=True, slots=True, eq=False)
class Rankable:
    """The rule of one pool; read a block of queries at a time.

    Attributes:
        times: when queries are asked and items may be shown.
        only: (Q, I) the pool's candidates, where it has them: these and no others.
        seen: (Q, I) what the query or its user has met already, where the pool leaves that out.
    """

    times: Times
    only: sparse.csr_array | None
    seen: sparse.csr_array | None

    def mask(self, block: slice) -> Bool:
        """(B, I) whether the query may be given the item."""
        if self.only is not None:
            listed: Bool = self.only[block].toarray()
            return listed
        times = self.times
        asked = times.query[block, None]
        allowed: Bool = eligible(asked, times.eligible_from[None], times.eligible_until[None])
        return allowed if self.seen is None else allowed & ~self.seen[block].toarray()


def rankable(pool: Pool) -> Rankable:
    """The rule of a pool: its candidates, else what is eligible and, if so declared, not seen."""
    only = None if pool.candidates is None else _candidates(pool)
    seen = None
    if pool.declared.seen == "removed" and pool.logs is not None:
        seen = _interactions.encode(pool, pool.logs).seen()
    return Rankable(pool.times, only, seen)


def _candidates(pool: Pool) -> sparse.csr_array:
    listed = candidates(pool)
    shape = (len(pool.vocab.queries), len(pool.vocab.items))
    true = np.ones(len(listed.query), np.bool_)
    return sparse.coo_array((true, (listed.query, listed.item)), shape=shape).tocsr()
