"""The first stage that a pool's fixed candidates came from, where they say how it ordered them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists
from pipeline.models._encode import candidates, within
from pipeline.models._shortlist import RANK, SCORE


def first_stage(pool: Pool, final: Lists) -> Lists | None:
    """The pool's candidates as a retrieval list, for a model that ordered them.

    Args:
        pool: whose candidates have a column ``retrieval_score`` (larger is better) or
            ``retrieval_rank`` (from 1), or both; the score then orders.
        final: the model's lists.

    Returns:
        The candidates, by query and then by item; None where neither column is there, or
        the model returned anything but candidates, so that it cannot have ordered these.

    Raises:
        SamepoolError: the column holds anything but finite numbers.
    """
    table = pool.candidates
    names = () if table is None else [n for n in (SCORE, RANK) if n in table.column_names]
    if table is None or not names:
        return None
    listed = candidates(pool)
    n_items = len(pool.vocab.items)
    if (final.item >= n_items).any():
        return None
    known = _keys(listed.query, listed.item, n_items)
    if not within(_keys(final.query, final.item, n_items), known).all():
        return None
    values = {name: _numbers(pool, listed.table[name], name) for name in names}
    rank = values.get(RANK)
    score = values[SCORE] if SCORE in values else -values[RANK]
    whole = rank is not None and (rank == np.round(rank)).all()
    given = rank.astype(np.int32) if rank is not None and whole else None
    return Lists(listed.query, listed.item, score, given)


def _keys(query: I32, item: I32, n_items: int) -> I64:
    return query.astype(np.int64) * n_items + item


def _numbers(pool: Pool, column: pa.ChunkedArray, name: str) -> F64:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))
        if np.isfinite(values).all():
            return values
        text = f"{np.count_nonzero(~np.isfinite(values)):,} candidates have no finite {name}"
    else:
        text = f"{name} of candidates holds {kind}, not numbers"
    fix = "it orders the first stage's list: give every candidate a number, or rename the column"
    raise fault("bad_retrieval", text, fix, file=f"pool {pool.name}")
