"""Scores every rankable item of every query, a block of queries at a time."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists
from pipeline.models import Ranking, Tools
from pipeline.models._rankable import rankable
from pipeline.models._top import top

CELLS = 2_000_000  # scores held at once: 16 MB, and the steps between two signs of progress


def rank_blocks(
    pool: Pool,
    tools: Tools,
    label: str,
    score: Callable[[slice, Bool], F64],
    scored: Bool | None = None,
    matched: Callable[[slice, F64], Bool] | None = None,
) -> Ranking:
    """Lists of the best ``tools.keep_depth`` rankable items of every query.

    Args:
        pool: what is asked.
        tools: depth and progress.
        label: what progress is called.
        score: scores (B, I) of all items for a block of queries, given the mask (B, I) of those
            that count; the others' scores are not read.
        scored: (I,) items that the model can score at all; None for all of them.
        matched: which pairs (B, I) of a block, given its scores, are an answer; None for all.

    Raises:
        SamepoolError: a score that counts is NaN or infinite; it must not vanish in the cut.
    """
    rule = rankable(pool)
    parts = [_empty()]
    for block in tools.progress(blocks(pool), label):
        mask = rule.mask(block) if scored is None else rule.mask(block) & scored
        scores = score(block, mask)
        _finite(scores, mask, block, pool, label)
        if matched is not None:
            mask &= matched(block, scores)
        rows, items = top(scores, mask, tools.keep_depth)
        query = (rows + block.start).astype(np.int32)
        parts.append(Lists(query, items.astype(np.int32), scores[rows, items]))
    final = Lists(
        query=np.concatenate([part.query for part in parts]),
        item=np.concatenate([part.item for part in parts]),
        score=np.concatenate([part.score for part in parts]),
    )
    return Ranking(final, retrieval=None, foreign=pa.array([], pa.string()))


def _finite(scores: F64, mask: Bool, block: slice, pool: Pool, label: str) -> None:
    wrong = mask & ~np.isfinite(scores)
    if not wrong.any():
        return
    query, item = np.argwhere(wrong)[0]
    pair = f"{pool.vocab.queries[block.start + query]}/{pool.vocab.items[item]}"
    text = f"{label} scored NaN or infinity for {int(wrong.sum()):,} pairs, first {pair}"
    raise fault("bad_score", text, "every score must be a finite number")


def blocks(pool: Pool) -> list[slice]:
    """Slices of queries whose scores fit in memory."""
    n = len(pool.vocab.queries)
    size = max(1, CELLS // max(1, len(pool.vocab.items)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _empty() -> Lists:
    return Lists(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))
