"""Lists after ordering, met with the judgments: what metrics read."""

from dataclasses import dataclass

import pyarrow as pa

from pipeline.core.arrays import F64, I32, I64, Bool


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One stage's ordered lists, kept sparse: only items that have a judgment, and the top.

    Attributes:
        stage: ``final`` or ``retrieval``.
        returned: (Q,) whether the model answered, if only with nothing.
        length: (Q,) number of items returned.
        constant: (Q,) whether two or more items were returned, all with one score: the order is
            the tie rule's alone.
        hit_query: (H,) query codes of returned items that are judged, ascending.
        hit_judgment: (H,) their places in the pool's judgments.
        rank: (H,) ranks, from 1; ascending within a query.
        tie_first: (H,) smallest rank that the item could have had under another tie rule.
        tie_last: (H,) largest rank likewise.
        top: (Q, K) item codes (as in Lists, foreign ones included) of the first K; -1 past the end.
        top_score: (Q, K) their scores; NaN past the end.
        foreign: string array of ids that codes at or above the pool's item count point into.
    """

    stage: str
    returned: Bool
    length: I32
    constant: Bool
    hit_query: I32
    hit_judgment: I64
    rank: I32
    tie_first: I32
    tie_last: I32
    top: I32
    top_score: F64
    foreign: pa.Array
