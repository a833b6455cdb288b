"""What a ranker may know of a query and an item that was retrieved for it."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I64
from pipeline.core.pool import UNKNOWN_TIME, Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists
from pipeline.core.suggest import did_you_mean
from pipeline.models._interactions import read
from pipeline.models._windows import DAY, Windows, windows


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Everything that the features of one pool are read from.

    Attributes:
        time: (Q,) when queries are asked.
        created: (I,) when items came to be.
        popularity: (I,) interactions.
        recent: counts within a window.
        window: its length in microseconds.
        person: (Q,) person codes of queries.
        activity: (people,) interactions.
        tags: (I, T) an item's tags, each 1 / its number of tags; T = 0 without a tag column.
        taste: (people, T) share of a person's history in each tag.
    """

    time: I64
    created: I64
    popularity: F64
    recent: Windows
    window: int
    person: I64
    activity: F64
    tags: F64
    taste: F64

    def of(self, lists: Lists, best: F64, rows: slice) -> F64:
        """(N, 7) features of some rows of lists.

        In this order: the retriever's score; that score over the best one of its list; log of 1 +
        popularity; log of 1 + popularity within the window before the query's time; the item's age
        in days, NaN where unknown; log of 1 + the person's number of interactions; how far the
        person's history shares the item's tags, 0..1.

        Args:
            lists: what was retrieved.
            best: (all rows,) the largest score of the row's list.
            rows: which rows.
        """
        query, item = lists.query[rows], lists.item[rows].astype(np.int64)
        score, top, time = lists.score[rows], best[rows], self.time[query]
        person = self.person[query]
        age = (time - self.created[item]) / DAY
        known = (self.created[item] != UNKNOWN_TIME) & (time != UNKNOWN_TIME)
        return np.column_stack(
            [
                score,
                np.divide(score, top, out=np.zeros_like(score), where=top > 0),
                np.log1p(self.popularity[item]),
                np.log1p(self.recent.count(item, time - self.window, time)),
                np.where(known, age, np.nan),
                np.log1p(self.activity[person]),
                np.einsum("nt,nt->n", self.taste[person], self.tags[item]),
            ]
        )


def features(pool: Pool, window_days: float, tag_column: str | None) -> Features:
    """Features of a pool, from its logs and its items.

    Args:
        pool: the pool.
        window_days: window of recent popularity.
        tag_column: column of items that holds tags: lists of strings, or text that spaces, commas,
            semicolons or bars separate; None for no tags.

    Raises:
        SamepoolError: the pool has no logs or no such column.
    """
    log = read(pool, "trees")
    met = log.matrix()
    tags = _tags(pool, tag_column)
    activity = np.asarray(met.sum(axis=1), dtype=np.float64)
    return Features(
        time=pool.times.query,
        created=pool.times.created,
        popularity=log.counts(),
        recent=windows(log),
        window=round(window_days * DAY),
        person=log.person_of_query.astype(np.int64),
        activity=activity,
        tags=tags,
        taste=(met @ tags) / np.maximum(activity, 1.0)[:, None],
    )


def best_of_list(lists: Lists) -> F64:
    """(N,) the largest score of each row's list."""
    if not len(lists.query):
        return np.empty(0)
    start = np.flatnonzero(np.diff(lists.query, prepend=-1))
    length = np.diff(start, append=len(lists.query))
    return np.repeat(np.maximum.reduceat(lists.score, start), length)


def _tags(pool: Pool, name: str | None) -> F64:
    n_items = len(pool.vocab.items)
    if name is None:
        return np.zeros((n_items, 0))
    if name not in pool.items.column_names:
        text = f"trees: items have no column {name!r} to take tags from"
        raise fault("unknown_column", text, did_you_mean(name, pool.items.column_names))
    column = pool.items[name].combine_chunks()
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        column = pc.split_pattern_regex(column.cast(pa.string()), r"[\s,;|]+")
    item = np.asarray(pc.list_parent_indices(column))
    tag = pc.list_flatten(column).dictionary_encode()
    vocab = tag.dictionary
    # Columns in the order of the tags, not of first use, so that sums never depend on row order.
    place = np.asarray(pc.rank(vocab)).astype(np.int64) - 1
    marks = np.zeros((n_items, len(vocab)))
    marks[item, place[np.asarray(tag.indices)]] = 1.0
    shared: F64 = marks / np.maximum(marks.sum(axis=1, keepdims=True), 1.0)
    return shared
