"""Scores every rankable item of every query, block by block; or a pool's candidates alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists, joined
from pipeline.models import Ranking, Tools
from pipeline.models._encode import candidates
from pipeline.models._rankable import rankable
from pipeline.models._scoring import best
from pipeline.models._top import top

CELLS = 2_000_000  # scores held at once: 16 MB, and the steps between two signs of progress
PAIRS = 50_000  # candidates scored at once: what they are scored from may be hundreds of numbers


@dataclass(frozen=True, slots=True)
class ByPair:
    """What a kind can say of single pairs of query and item.

    Attributes:
        score: scores (N,) of pairs, given the codes of their queries, ascending, and of their
            items; the same bits as those of blocks.
        matched: which pairs are an answer, given the codes of their queries, (B, 1) or (N,), and
            their scores, (B, I) or (N,); None for all.
    """

    score: Callable[[I32, I32], F64] | None = None
    matched: Callable[[I64, F64], Bool] | None = None


def rank_blocks(
    pool: Pool,
    tools: Tools,
    label: str,
    score: Callable[[slice, Bool], F64],
    scored: Bool | None = None,
    pairs: ByPair | None = None,
) -> Ranking:
    """Lists of the best ``tools.keep_depth`` rankable items of every query.

    Args:
        pool: what is asked.
        tools: depth and progress.
        label: what progress is called.
        score: scores (B, I) of all items for a block of queries, given the mask (B, I) of those
            that count; the others' scores are not read.
        scored: (I,) items that the model can score at all; None for all of them.
        pairs: how single pairs are scored. With it a pool's candidates are scored alone, however
            large the catalogue; without it all items are, a block of queries at a time, and what
            is no candidate is left out.

    Raises:
        SamepoolError: a score that counts is NaN or infinite; it must not vanish in the cut.
    """
    pairs = pairs or ByPair()
    if pool.candidates is not None and pairs.score is not None:
        parts = _of_pairs(pool, tools, label, pairs.score, scored, pairs.matched)
    else:
        parts = _of_blocks(pool, tools, label, score, scored, pairs.matched)
    return Ranking(joined(parts), retrieval=None, foreign=pa.array([], pa.string()), complete=True)


def _of_blocks(
    pool: Pool,
    tools: Tools,
    label: str,
    score: Callable[[slice, Bool], F64],
    scored: Bool | None,
    matched: Callable[[I64, F64], Bool] | None,
) -> Iterator[Lists]:
    rule = rankable(pool)
    for block in tools.progress(blocks(pool), label):
        mask = rule.mask(block) if scored is None else rule.mask(block) & scored
        scores = score(block, mask)
        rows, items = np.nonzero(mask & ~np.isfinite(scores))
        _finite(rows + block.start, items, pool, label)
        if matched is not None:
            mask &= matched(np.arange(block.start, block.stop)[:, None], scores)
        rows, items = top(scores, mask, tools.keep_depth)
        query = (rows + block.start).astype(np.int32)
        yield Lists(query, items.astype(np.int32), scores[rows, items])


def _of_pairs(
    pool: Pool,
    tools: Tools,
    label: str,
    score: Callable[[I32, I32], F64],
    scored: Bool | None,
    matched: Callable[[I64, F64], Bool] | None,
) -> Iterator[Lists]:
    """The pool's candidates, some whole queries at a time."""
    listed = candidates(pool)
    query, item = listed.query, listed.item
    if scored is not None:
        query, item = query[scored[item]], item[scored[item]]
    for rows in tools.progress(_whole(query, PAIRS), label):
        asked, shown = query[rows], item[rows]
        scores = score(asked, shown)
        wrong = np.flatnonzero(~np.isfinite(scores))
        _finite(asked[wrong], shown[wrong], pool, label)
        if matched is not None:
            held = matched(asked.astype(np.int64), scores)
            asked, shown, scores = asked[held], shown[held], scores[held]
        kept = best(asked, scores, tools.keep_depth)
        yield Lists(asked[kept], shown[kept], scores[kept])


def _whole(query: I32, most: int) -> list[slice]:
    """Slices of about so many rows, none of which parts the rows of a query."""
    n = len(query)
    marks = query[np.arange(most, n, most)]
    cuts = np.unique(np.searchsorted(query, marks))
    edges = np.unique([0, *cuts.tolist(), n])
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def _finite(query: I64 | I32, item: I64 | I32, pool: Pool, label: str) -> None:
    """Refuses scores that are not finite, given the codes of the pairs that have one."""
    if not len(query):
        return
    pair = f"{pool.vocab.queries[int(query[0])]}/{pool.vocab.items[int(item[0])]}"
    text = f"{label} scored NaN or infinity for {len(query):,} pairs, first {pair}"
    raise fault("bad_score", text, "every score must be a finite number")


def blocks(pool: Pool) -> list[slice]:
    """Slices of queries whose scores fit in memory."""
    n = len(pool.vocab.queries)
    size = max(1, CELLS // max(1, len(pool.vocab.items)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
