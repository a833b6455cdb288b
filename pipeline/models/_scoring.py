"""Scores pairs of queries and items in batches that go across queries."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import F64, I32, I64
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists, joined
from pipeline.models import Tools
from pipeline.models._encode import candidates
from pipeline.models._pairs import Source, frame
from pipeline.models._rankable import rankable
from pipeline.models._ties import Spread


@dataclass(slots=True)
class Scoring:
    """One model's work on one pool.

    Attributes:
        pool: what is asked.
        tools: depth and progress.
        wanted: input name -> where it comes from.
        ask: a table of inputs (N rows) to scores (N,).
        who: the model's name in messages.
        batch_rows: pairs at a time, at most.
        spread: of the scores so far.
    """

    pool: Pool
    tools: Tools
    wanted: Mapping[str, Source]
    ask: Callable[[pd.DataFrame], F64]
    who: str
    batch_rows: int
    spread: Spread = field(default_factory=Spread)
    _done: int = 0

    def lists(self) -> Lists:
        """The best ``tools.keep_depth`` items of every query, and all that tie with the last.

        The pairs are the pool's candidates, else each query with every item it may be given.

        Raises:
            SamepoolError: a score that is NaN or infinite; what ``ask`` raises.
        """
        if self.pool.candidates is None:
            return joined(self._catalogue())
        return self._candidates()

    def _candidates(self) -> Lists:
        listed = candidates(self.pool)
        query, item = listed.query, listed.item
        score = np.empty(len(query))
        for rows in self.tools.progress(_steps(len(query), self.batch_rows), self.who):
            score[rows] = self._batch(query[rows], item[rows], listed.table[rows])
        return self._best(query, item, score)

    def _catalogue(self) -> Iterator[Lists]:
        """Block after block of queries, each of about a batch's pairs."""
        rule = rankable(self.pool)
        size = max(1, self.batch_rows // max(1, len(self.pool.vocab.items)))
        for block in self.tools.progress(_steps(len(self.pool.vocab.queries), size), self.who):
            rows, items = np.nonzero(rule.mask(block))
            query, item = (rows + block.start).astype(np.int32), items.astype(np.int32)
            score = np.empty(len(query))
            for part in _steps(len(query), self.batch_rows):
                score[part] = self._batch(query[part], item[part], None)
            yield self._best(query, item, score)

    def _batch(self, query: I32, item: I32, candidates: pa.Table | None) -> F64:
        scores = self.ask(frame(self.pool, self.wanted, query, item, candidates))
        self._done += len(query)
        wrong = np.flatnonzero(~np.isfinite(scores))
        if wrong.size:
            what = "NaN" if np.isnan(scores[wrong]).all() else "NaN or infinity"
            ids = self.pool.vocab
            first = f"{ids.queries[int(query[wrong[0]])]}/{ids.items[int(item[wrong[0]])]}"
            text = f"{self.who} scored {what} for {wrong.size:,} of the {self._done:,} pairs asked"
            text = f"{text}, first {first}"
            raise fault("bad_score", text, "every score must be a finite number: missing inputs?")
        return scores

    def _best(self, query: I32, item: I32, score: F64) -> Lists:
        self.spread.add(query, score)
        kept = best(query, score, self.tools.keep_depth)
        return Lists(query[kept], item[kept], score[kept])


def best(query: I32, score: F64, keep: int) -> I64:
    """Places of the ``keep`` best of every query, ascending; all that tie with the last stay too.

    >>> best(np.array([0, 0, 0, 1], np.int32), np.array([1.0, 3.0, 2.0, 9.0]), 2)
    array([1, 2, 3])
    """
    first = np.flatnonzero(np.diff(query, prepend=-1))
    length = np.diff(first, append=len(query))
    held = np.ones(len(query), dtype=np.bool_)
    for start, n in zip(first[length > keep], length[length > keep], strict=True):
        own = score[start : start + n]
        held[start : start + n] = own >= np.partition(own, n - keep)[n - keep]
    return np.flatnonzero(held)


def _steps(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
