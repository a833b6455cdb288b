"""What one model retrieved, as a pool of candidates that another model is given to order."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I32, I64
from pipeline.core.pool import OPEN_END, UNKNOWN_TIME, Judgments, Pool, Times, Vocab
from pipeline.core.problems import Problem
from pipeline.core.run import Lists
from pipeline.core.suggest import did_you_mean
from pipeline.models._encode import candidates, within

SCORE, RANK = "retrieval_score", "retrieval_rank"
_IDS = ("query_id", "item_id")


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """The retrieved pairs, and the pool in which they are all there is to return.

    Attributes:
        pool: the pool with the pairs as its candidates and without judgments; items retrieved from
            outside the pool are items of it.
        place: (E,) the retriever's code of each item of ``pool``.
        keys: (N,) the pairs as query * E + item of ``pool``, ascending.
    """

    pool: Pool
    place: I32
    keys: I64

    def kept(self, ranked: Lists) -> tuple[Lists, int]:
        """The lists without what was not retrieved, in the retriever's codes; how many remain out.

        Args:
            ranked: lists over ``pool``; an item once a query.

        Returns:
            The lists, and the number of pairs that were left out of them.
        """
        known = ranked.item < len(self.place)
        keys = ranked.query.astype(np.int64) * len(self.place) + ranked.item
        held = known & within(keys, self.keys)
        rank = ranked.given_rank
        item = self.place[ranked.item[held]]
        rank = None if rank is None else rank[held]
        kept = Lists(ranked.query[held], item, ranked.score[held], rank)
        return kept, len(held) - int(held.sum())


def shortlist(
    pool: Pool, found: Lists, foreign: pa.Array, sees: Collection[str] | None
) -> Shortlist:
    """The pool that a ranker is given.

    Its candidates are the retrieved pairs, sorted by both ids, with the features that the pool's
    own candidates have of them (null where they lack the pair). Columns ``retrieval_score`` and
    ``retrieval_rank`` are those of the retriever at hand, never the pool's, and are there only
    where they are named: a model that takes all columns must not change its scores because it is
    given another model's. Ids, logs and what is declared are there always.

    Args:
        pool: what is asked.
        found: the retriever's lists; an item once a query.
        foreign: string array of items outside the pool, whose codes follow the pool's.
        sees: columns of queries, items and candidates that the ranker may see; None for all but
            those two. ``query_`` or ``item_`` before a name tells apart what both have.
    """
    ids, place = pool.vocab.items, np.arange(len(pool.vocab.items), dtype=np.int32)
    if len(foreign):
        ids = pa.concat_arrays([ids, foreign.cast(ids.type)])
        place = np.asarray(pc.sort_indices(ids)).astype(np.int32)
        ids = ids.take(pa.array(place))
    own = np.empty(len(place), dtype=np.int32)
    own[place] = np.arange(len(place), dtype=np.int32)
    item = own[found.item]
    order = np.lexsort((item, found.query))
    query, item, score = found.query[order], item[order], found.score[order]
    keys = query.astype(np.int64) * max(1, len(place)) + item
    columns = {
        "query_id": pool.vocab.queries.take(pa.array(query)),
        "item_id": ids.take(pa.array(item)),
        **_features(pool, own, keys, sees),
    }
    if sees is not None and SCORE in sees:
        columns[SCORE] = pa.array(score)
    if sees is not None and RANK in sees:
        columns[RANK] = pa.array(ranks(query, item, score))
    wider = _widened(pool, ids, place, foreign)
    return Shortlist(replace(_hidden(wider, sees), candidates=pa.table(columns)), place, keys)


def ranks(query: I32, item: I32, score: np.ndarray) -> I64:
    """(N,) places from 1 in each query's list: larger scores first, equal ones by descending id.

    >>> ranks(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([5.0, 9.0, 5.0])).tolist()
    [3, 1, 2]
    """
    order = np.lexsort((-item.astype(np.int64), -score, query))
    start = np.searchsorted(query, query)
    found = np.empty(len(query), dtype=np.int64)
    found[order] = np.arange(len(query)) - start + 1
    return found


def unknown(pool: Pool, sees: Iterable[str] | None, who: str) -> list[Problem]:
    """Errors for columns that a ranker may see and the pool does not have.

    Args:
        pool: whose columns.
        sees: as in :func:`shortlist`.
        who: the model, for messages.
    """
    known = {SCORE, RANK, *_IDS}
    for table, prefix in ((pool.queries, "query_"), (pool.items, "item_")):
        known |= {*table.column_names, *(prefix + name for name in table.column_names)}
    known |= set(() if pool.candidates is None else pool.candidates.column_names)
    return [
        Problem(
            "unknown_column",
            "error",
            f"{who}: sees {name!r}, which is no column of queries, items or candidates",
            did_you_mean(name, known),
        )
        for name in sees or ()
        if name not in known
    ]


def _features(
    pool: Pool, own: I32, keys: I64, sees: Collection[str] | None
) -> dict[str, pa.ChunkedArray]:
    """What the pool's own candidates say of the pairs, by column.

    Args:
        pool: whose candidates.
        own: (E,) the shortlist's code of each item, which ascend with those of the pool.
        keys: (N,) the pairs as in :class:`Shortlist`.
        sees: as in :func:`shortlist`.
    """
    table = pool.candidates
    if table is None:
        return {}
    names = [
        name
        for name in table.column_names
        if name not in {*_IDS, SCORE, RANK} and (sees is None or name in sees)
    ]
    if not names:
        return {}
    listed = candidates(pool)
    theirs = listed.query.astype(np.int64) * max(1, len(own)) + own[listed.item]
    some = pa.array(np.searchsorted(theirs, keys), mask=~within(keys, theirs))
    return {name: listed.table[name].take(some) for name in names}


def _widened(pool: Pool, ids: pa.Array, place: I32, foreign: pa.Array) -> Pool:
    """The pool with further items, of which nothing but the id is known, and without judgments."""
    nobody = np.zeros(len(pool.vocab.queries) + 1, dtype=np.int64)
    nothing = np.empty(0, np.int32), np.empty(0), np.empty(0, np.bool_)
    pool = replace(pool, judgments=Judgments(nobody, *nothing))
    if not len(foreign):
        return pool
    strange = pa.table({"item_id": foreign.cast(pool.items["item_id"].type)})
    items = pa.concat_tables([pool.items, strange], promote_options="default")
    times = pool.times
    return replace(
        pool,
        items=items.take(pa.array(place)),
        vocab=Vocab(pool.vocab.queries, ids),
        times=Times(
            times.query,
            _longer(times.created, UNKNOWN_TIME, place),
            _longer(times.eligible_from, UNKNOWN_TIME, place),
            _longer(times.eligible_until, OPEN_END, place),
        ),
    )


def _longer(times: I64, empty: int, place: I32) -> I64:
    more = np.full(len(place) - len(times), empty, dtype=np.int64)
    return np.concatenate([times, more])[place]


def _hidden(pool: Pool, sees: Collection[str] | None) -> Pool:
    """The pool without what is not to be seen: columns of queries and items, and their times."""
    if sees is None:
        return pool
    times = pool.times
    queries = _some(pool.queries, "query_", sees)
    items = _some(pool.items, "item_", sees)
    if "issued_at" in pool.queries.column_names and "issued_at" not in queries.column_names:
        times = replace(times, query=np.full_like(times.query, UNKNOWN_TIME))
    if "created_at" in pool.items.column_names and "created_at" not in items.column_names:
        times = replace(times, created=np.full_like(times.created, UNKNOWN_TIME))
    return replace(pool, queries=queries, items=items, times=times)


def _some(table: pa.Table, prefix: str, sees: Collection[str]) -> pa.Table:
    names = [n for n in table.column_names if n in _IDS or n in sees or prefix + n in sees]
    return table.select(names)
